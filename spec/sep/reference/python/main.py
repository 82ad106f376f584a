"""Everything that an extension can do, in Python with nothing but its standard library.

What it does is of no use; how it does it is the point. The part of it that is SEP stands beside it in JavaScript, and both pass
the scripted exchanges of this specification.
"""

import re

from sep import Cancelled, Peer, RpcError, complain

TEXT = {"type": "string"}

enabled = {}  # groups that the host has enabled
flags = {}
learned = set()


def schema(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required)}


def plural(count, word):
    return "%d %s%s" % (count, word, "" if count == 1 else "s")


def ui(**params):
    return host.call("ui/request", params)


# Tools: each takes the arguments and the call. A returned string is the content of the result.


def say(args, call):
    phrase = args.get("phrase")
    if not isinstance(phrase, str):
        raise ValueError("phrase must be text")
    return phrase.upper() if flags.get("loud") else phrase


def count(args, call):
    numbers = []
    for n in range(1, args["to"] + 1):
        numbers.append(n)
        call.update(message=str(n), progress=n / args["to"])
    return {"content": "counted to %d" % args["to"], "details": {"numbers": numbers}}


def wait(args, call):
    call.update(message="waiting")
    call.cancelled.wait()
    raise Cancelled("cancelled")


def ask(args, call):
    try:
        answer = ui(kind="confirm", prompt=args["prompt"])
    except RpcError as error:
        if error.code == -32001:
            raise ValueError("there is nobody to ask")
        raise
    if answer.get("cancelled"):
        return "nobody answered"
    return "yes" if answer.get("confirmed") else "no"


def remember(args, call):
    key, value = args["key"], args.get("value")
    before = host.call("kv/get", {"key": key}).get("value")
    if value is None:
        host.call("kv/delete", {"key": key})
    else:
        host.call("kv/set", {"key": key, "value": value})
    keys = host.call("kv/list", {"prefix": ""})["keys"]
    was = "nothing" if before is None else before
    now = "forgotten" if value is None else value
    return "%s was %s, is %s; %s" % (key, was, now, plural(len(keys), "key"))


def run(args, call):
    params = {name: args[name] for name in ("command", "args") if name in args}
    return host.call("exec/run", {**params, "context": call.context})["stdout"].strip()


TOOLS = {
    "say": (say, "Say a phrase back.", schema({"phrase": TEXT}, ["phrase"])),
    "count": (count, "Count, and say how far it is.", schema({"to": {"type": "integer", "minimum": 1, "maximum": 100}}, ["to"])),
    "wait": (wait, "Wait until somebody cancels it.", schema({})),
    "ask": (ask, "Ask a person.", schema({"prompt": TEXT}, ["prompt"])),
    "remember": (remember, "Remember a value, or forget it.", schema({"key": TEXT, "value": TEXT}, ["key"])),
    "run": (run, "Run a program through the host.", schema({"command": TEXT, "args": {"type": "array", "items": TEXT}}, ["command"])),
}


# Commands: each takes what was typed after it, and the context.


def echo(args, context):
    return args


def talk(args, context):
    host.call("session/send_message", {"context": context, "text": "A word from the reference.", "role": "assistant"})
    host.call("session/send_user_message", {"context": context, "text": "What was that?", "deliver_as": "follow_up"})
    host.call("session/append_entry", {"context": context, "entry": {"tag": "note", "title": "Said"}})
    host.call("session/set_model", {"context": context, "model": "parrot-1", "provider": "parrot"})
    state = host.call("session/state", {"context": context}).get("state", {})
    return "talking to %s" % state.get("model")


def show(args, context):
    ui(kind="notify", message="Watch this.", level="info")
    ui(kind="set_status", status="showing")
    ui(kind="set_title", title="Reference")
    chosen = ui(kind="select", prompt="Which block?", options=["table", "progress"]).get("value")
    label = ui(kind="input", prompt="Which label?", default="Done").get("text", "Done")
    block = {"kind": "table", "columns": ["label"], "rows": [[label]], "text": label}
    if chosen == "progress":
        block = {"kind": "progress", "value": 0.5, "label": label, "text": "%s: 50%%" % label}
    ui(kind="set_widget", widget=block)
    return block["text"]


def learn(name, context):
    if name == "":
        return "learn what?"
    learned.add(name)
    host.notify("registry/update", {"tools": [{"name": name, "description": "Says %s." % name, "parameters": schema({})}]})
    active = host.call("tools/set_active", {"tools": ["say", name]})["active"]
    return "active: " + ", ".join(active)


# Beyond SEP: taken only from hosts that have enabled the groups.


def seams(args, context):
    def call(method, **params):
        return host.call(method, {"context": context, **params})

    call("injection/enqueue", text="The reference says hello.", idempotency_key="hello")
    call("turn/continue")
    call("schedule/turn", message="Look again.", delay_ms=60_000, tag="reference")
    call("schedule/remove", tag="reference")
    button = {"id": "add", "label": "Add one", "action": {"data": "score:add"}}
    sent = call("attachment/send", text="A greeting.", presentation={"title": "Hello", "buttons": [button]})
    call("attachment/update", delivery_id=sent["delivery_id"], text="A greeting, again.")
    approval = call("approval/request", title="Go on?", description="The reference asks.")
    notice = call("action_required/notify", title="Somebody is needed.", actions=[{"label": "Reset", "action_id": "reset"}])
    call("action_required/withdraw", id=notice["id"])
    sessions = host.call("state/list", {"namespace": "score"})["sessions"]
    swapped = host.call("kv/compare_and_set", {"key": "seams", "expected": None, "value": 1})["swapped"]
    first = "first time" if swapped else "again"
    return "%s by %s; %s; %s" % (approval["decision"], approval["by"], plural(len(sessions), "session"), first)


def later(message, context):
    host.call("schedule/turn", {"context": context, "message": message, "delay_ms": 1, "tag": "later"})
    return "later: %s" % message


COMMANDS = {
    "py-echo": (echo, "Say it back."),
    "py-talk": (talk, "Write into the session."),
    "py-show": (show, "Show everything that can be shown."),
    "py-learn": (learn, "Learn a tool, and use only that one and say."),
}
FURTHER_COMMANDS = {
    "py-seams": (seams, "Use the seams of the session."),
    "py-later": (later, "Say it to the agent in a moment."),
}
WORDS = ["hello", "help", "hi"]


def add_to_score(context, by):
    stored = host.call("state/get", {"context": context, "namespace": "score"})
    n = (stored["value"] or {}).get("n", 0) + by
    host.call("state/patch", {"context": context, "namespace": "score", "value": {"n": n}, "if_revision": stored["revision"]})
    host.call("gateway_event/emit", {"name": "score", "data": {"n": n}})
    return n


def further_registrations():
    """Each key only where the host has enabled its group: others refuse what they do not know."""
    every = {
        "tool_facts": [{"name": "say", "risk": "read", "idempotent": True, "parallel_safe": True}],
        "state": [{"namespace": "score", "description": "The score of a session.", "project": ""}],
        "actions": [
            {"id": "add", "description": "Add to the score.", "schema": schema({"by": {"type": "integer"}})},
            {"id": "reset", "description": "Back to zero."},
        ],
        "patch_actions": [{"action": "shout"}],
        "interactions": [{"channel": "*", "namespace": "score"}],
        "descriptors": [
            {
                "id": "score",
                "label": "Score",
                "surface": "session",
                "view": [{"kind": "key-value", "from": {"namespace": "score"}}],
                "actions": [{"label": "Reset", "style": "danger", "action_id": "reset"}],
            }
        ],
        "policies": [{"id": "no-secrets", "description": "Nobody reads .env files; a person is asked before a push."}],
        "scheduled_turns": [{"id": "look", "description": "Looks by itself where that is all that is asked."}],
        "scheduler_jobs": [{"id": "watch", "session_key": "agent:main:main", "kind": "watcher"}],
        "gateway_methods": [{"name": "scores", "scope": "operator.read"}],
        "gateway_events": [{"name": "score", "scope": "operator.read"}],
        "startup_checks": [{"id": "ready", "description": "Whether it is there."}],
    }
    groups = {"patch_actions": "actions", "gateway_events": "streams", "scheduled_turns": "schedules", "scheduler_jobs": "schedules"}
    return {key: items for key, items in every.items() if enabled.get(groups.get(key, key)) is True}


# What the host asks.


def initialize(params, cancelled):
    enabled.update(params.get("capabilities_enabled") or {})
    flags.update(params.get("flags") or {})
    # A host that has more than SEP names it, whether it is on or off.
    has_more = "state" in enabled
    if has_more:
        COMMANDS.update(FURTHER_COMMANDS)
    return {
        "protocol_version": 1,
        "extension": {"name": "reference-py", "version": "1.0.0"},
        "registrations": {
            "tools": [{"name": name, "description": text, "parameters": shape} for name, (_, text, shape) in TOOLS.items()],
            "commands": [{"name": name, "description": text} for name, (_, text) in COMMANDS.items()],
            "flags": ["loud"],
            "shortcuts": [{"key": "ctrl+e", "command": "py-echo"}],
            "subscriptions": ["turn_end", "bus/event"] + (["cron_changed"] if has_more else []),
            "providers": [{"name": "parrot", "oauth": True, "models": [{"id": "parrot-1", "display_name": "Parrot 1"}]}],
            "hooks": ["tool_call", "tool_result"] + (["before_agent_finalize"] if has_more else []),
            "message_renderers": [{"tag": "note", "template": {"kind": "markdown", "text": "**{{title}}**"}}],
            **further_registrations(),
        },
    }


class Call:
    def __init__(self, params, cancelled):
        self.call_id = params.get("call_id")
        self.context = params.get("context")
        self.cancelled = cancelled

    def update(self, **fields):
        host.notify("tool/update", {"call_id": self.call_id, **fields})


def tool_execute(params, cancelled):
    tool = params.get("tool")
    if tool in learned:
        return {"content": tool}
    # What is not there is a result, so that the model can read it.
    if tool not in TOOLS:
        return {"content": "unknown tool: %s" % tool, "is_error": True}
    try:
        result = TOOLS[tool][0](params.get("arguments") or {}, Call(params, cancelled))
        return {"content": result} if isinstance(result, str) else result
    except Cancelled:
        raise
    except Exception as error:
        return {"content": str(error), "is_error": True}


def command_execute(params, cancelled):
    command = params.get("command")
    if command not in COMMANDS:
        return {"content": "unknown command: %s" % command}
    try:
        return {"content": COMMANDS[command][0]((params.get("arguments") or {}).get("args", ""), params.get("context"))}
    except Exception as error:
        return {"content": "failed: %s" % error}


def command_complete(params, cancelled):
    words = WORDS if params.get("command") == "py-echo" else []
    return {"completions": [{"value": word} for word in words if word.startswith(params.get("partial", ""))]}


def hook(params, cancelled):
    value = params["input"]
    if params["hook"] == "tool_call" and "rm -rf" in str((value.get("arguments") or {}).get("command", "")):
        return {"action": "block", "reason": "rm -rf is not for agents"}
    if params["hook"] == "tool_result" and "hunter2" in value.get("content", ""):
        # The patch replaces the whole value.
        return {"action": "modify", "patch": {**value, "content": value["content"].replace("hunter2", "[redacted]")}}
    if params["hook"] == "before_agent_finalize" and "may" in value.get("last_assistant_message", ""):
        # Beyond SEP a patch is what the hook may answer, and nothing else.
        return {"action": "modify", "patch": {"action": "revise", "retry": {"instruction": "Say it for sure.", "max_attempts": 1}}}
    return {"action": "continue"}


def provider_complete(params, cancelled):
    said = next((message.get("content", "") for message in reversed(params["messages"]) if message.get("role") == "user"), "")
    pieces = re.findall(r"\s*\S+", said)
    for content in pieces if params.get("stream") else []:
        if cancelled.is_set():
            raise Cancelled("cancelled")
        host.notify("provider/delta", {"request_id": params["request_id"], "event": {"type": "Delta", "content": content}})
    usage = {"prompt_tokens": len(pieces), "completion_tokens": len(pieces), "total_tokens": 2 * len(pieces)}
    return {"content": said, "finish_reason": "stop", "usage": usage, "resolved_model": params["model"]}


def oauth_login(params, cancelled):
    code = ui(kind="input", prompt="The code of the parrot?").get("text")
    if code is None:
        raise RpcError(-32000, "nobody signed in")
    return {"access_token": "token-of-" + code, "refresh_token": "again-" + code}


def oauth_refresh(params, cancelled):
    return {"access_token": "token-of-" + params.get("refresh_token", "")}


def action_execute(params, cancelled):
    action = params.get("action")
    if action == "add":
        try:
            return {"ok": True, "result": {"n": add_to_score(params["context"], (params.get("payload") or {}).get("by", 1))}}
        except RpcError as error:
            return {"ok": False, "error": str(error)}
    if action == "reset":
        return {"ok": True, "reply": "Back to zero.", "state_patch": {"score": None}, "inject": [{"text": "The score was reset."}]}
    return {"ok": False, "error": "unknown action: %s" % action}


def patch_action_execute(params, cancelled):
    if params.get("action") == "shout":
        return {"ok": True, "entry_patch": {"title": params["entry"]["title"].upper()}}
    return {"ok": False, "error": "unknown action: %s" % params.get("action")}


def policy_decide(params, cancelled):
    if any(re.search(r"(^|/)\.env$", path) for path in params.get("derived_paths", [])):
        return {"decision": "deny", "reason": ".env files are secret"}
    if params["tool"] == "exec" and re.match(r"git push\b", params["arguments"].get("command", "")):
        return {"decision": "ask", "approval": {"title": "Push?", "description": "Others will see it."}}
    return {"decision": "allow"}


def interaction_press(params, cancelled):
    return {"text": "The score is %d." % add_to_score(params["context"], 1)}


def schedule_due(params, cancelled):
    if params["message"] != "Look again.":
        return {"handled": False}
    stream = {"run_id": params["run_id"], "stream": "reference-py.look", "data": {"looked": True}}
    host.call("stream/emit", {"context": params["context"], **stream})
    return {"handled": True, "reply": "Looked, and all is well."}


def schedule_clean_up(params, cancelled):
    host.notify("log", {"level": "info", "message": "%s ends: %s" % (params["job"], params["reason"])})
    return {}


def gateway_method_call(params, cancelled):
    sessions = host.call("state/list", {"namespace": "score"})["sessions"]
    return {"result": {each["session_key"]: each["value"]["n"] for each in sessions}}


def startup_check_run(params, cancelled):
    return {"ok": True, "message": "It is there."}


def event(params):
    payload = params.get("payload") or {}
    if params.get("event") == "bus/event":
        host.notify("log", {"level": "info", "message": "%s says %s" % (payload.get("from"), payload.get("topic"))})
    if params.get("event") == "cron_changed":
        host.notify("log", {"level": "info", "message": "a job was %s" % payload.get("action")})
    if params.get("event") == "turn_end":
        try:
            host.call("bus/publish", {"topic": "reference.turn", "payload": {"iterations": payload.get("iterations", 0)}})
        except RpcError as error:
            complain(error)  # a host without a bus refuses it, and life goes on


host = Peer(
    {
        "initialize": initialize,
        "shutdown": lambda params, cancelled: {},
        "ping": lambda params, cancelled: {},
        "tool/execute": tool_execute,
        "command/execute": command_execute,
        "command/complete": command_complete,
        "hook": hook,
        "provider/complete": provider_complete,
        "provider/oauth_login": oauth_login,
        "provider/oauth_refresh": oauth_refresh,
        "action/execute": action_execute,
        "patch_action/execute": patch_action_execute,
        "policy/decide": policy_decide,
        "interaction/press": interaction_press,
        "schedule/due": schedule_due,
        "schedule/clean_up": schedule_clean_up,
        "gateway_method/call": gateway_method_call,
        "startup_check/run": startup_check_run,
    },
    {"event": event},
)

if __name__ == "__main__":
    host.run()
