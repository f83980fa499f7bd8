"""The steps of a turn: `async def step(state, services) -> update`, without LangGraph."""
