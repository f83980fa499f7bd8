"""Drawings of a journey from its spec: Mermaid, SVG and text, all without a network."""
