"""A tool for the agent. sep.py speaks the protocol; what the tool does stands here."""

from sep import Peer

GREET = {
    "name": "greet",
    "description": "Greet somebody by name.",
    "parameters": {
        "type": "object",
        "properties": {"who": {"type": "string", "description": "Their name"}},
        "required": ["who"],
        "additionalProperties": False,
    },
}


def greet(args):
    who = args.get("who")
    if not isinstance(who, str):
        raise ValueError("who must be text")
    return "Hello, %s!" % who


def initialize(params, cancelled):
    return {
        "protocol_version": 1,
        "extension": {"name": "__NAME__", "version": "0.1.0"},
        "registrations": {"tools": [GREET], "subscriptions": []},
    }


def tool_execute(params, cancelled):
    tool = params.get("tool")
    if tool != "greet":
        return {"content": "unknown tool: %s" % tool, "is_error": True}
    try:
        return {"content": greet(params.get("arguments") or {})}
    except Exception as error:
        return {"content": str(error), "is_error": True}


host = Peer(
    {
        "initialize": initialize,
        "shutdown": lambda params, cancelled: {},
        "ping": lambda params, cancelled: {},
        "tool/execute": tool_execute,
        "command/execute": lambda params, cancelled: {"content": "unknown command: %s" % params.get("command")},
        "command/complete": lambda params, cancelled: {"completions": []},
        "hook": lambda params, cancelled: {"action": "continue"},
    },
    {},
)

if __name__ == "__main__":
    host.run()
