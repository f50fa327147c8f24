"""rocport as tools of a coding agent: plain functions with typed results (`tools`), served by MCP (`server`)."""
