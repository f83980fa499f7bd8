"""Answers from knowledge: the capability of journeys whose author declares a retriever."""
