"""The steps of a turn: `async def step(state, services) -> update`, one a file, no LangGraph."""
