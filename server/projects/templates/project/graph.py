"""The journey as a graph of LangGraph: for Studio (`langgraph.json`) and for other programs."""

from my_journey import AGENTS, TOOLS, MyJourney

graph = MyJourney.compile(agents=AGENTS, tools=TOOLS)
