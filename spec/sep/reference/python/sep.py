"""One end of the extension protocol, for an extension: lines in, lines out.

Nothing but the standard library; copy it, or use an SDK. Requests are handled in threads, so that a tool that waits for a
person does not keep the others waiting.
"""

import json
import os
import sys
import threading

MAX_LINE = 16 * 1024 * 1024
MAX_AT_ONCE = 64


class RpcError(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.code = code
        self.data = data


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class Peer:
    """`requests` and `notifications`: method -> handler(params, cancelled). What a request handler returns is the result."""

    def __init__(self, requests, notifications):
        self.requests = requests
        self.notifications = notifications
        self.writing = threading.Lock()
        self.counting = threading.Lock()
        self.next_id = 1
        self.waiting = {}  # id -> [event, frame]: what we have asked
        self.working = {}  # id -> event that is set when it is cancelled: what we were asked
        self.places = threading.Semaphore(MAX_AT_ONCE)

    def send(self, frame):
        line = json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False, separators=(",", ":"))
        with self.writing:
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
            sys.stdout.buffer.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def call(self, method, params):
        answered = threading.Event()
        with self.counting:
            own_id = self.next_id
            self.next_id += 1
            asked = self.waiting[own_id] = [answered, None]
        self.send({"id": own_id, "method": method, "params": params})
        answered.wait()
        frame = asked[1]
        error = frame.get("error")
        if error:
            raise RpcError(error.get("code"), error.get("message"), error.get("data"))
        result = frame.get("result")
        return {} if result is None else result

    def serve(self, request_id, method, params, cancelled):
        try:
            result = self.requests[method](params, cancelled)
            self.send({"id": request_id, "result": {} if result is None else result})
            if method == "shutdown":
                leave(0)  # the answer has left
        except Exception as error:
            code = error.code if isinstance(error, RpcError) else -32603
            if cancelled.is_set() or isinstance(error, Cancelled):
                code = -32800
            self.send({"id": request_id, "error": {"code": code, "message": str(error) or type(error).__name__}})
        finally:
            self.working.pop((type(request_id), request_id), None)
            self.places.release()

    def observe(self, method, params):
        try:
            self.notifications[method](params)
        except Exception as error:
            complain(error)
        finally:
            self.places.release()

    def take(self, line):
        try:
            frame = json.loads(line)
        except (ValueError, RecursionError):
            return  # not for us
        # Anything may come: null, a number, a list. Only an object is a frame.
        if not isinstance(frame, dict):
            return
        frame_id, method, params = frame.get("id"), frame.get("method"), frame.get("params")
        params = params if isinstance(params, dict) else {}
        # Both sides count for themselves: what has a method is theirs, whatever its id.
        if isinstance(method, str):
            if isinstance(frame_id, (int, str)):
                self.begin(frame_id, method, params)
            elif method == "$/cancel":
                cancelled = self.working.get((type(params.get("id")), params.get("id")))
                if cancelled:
                    cancelled.set()
            elif method in self.notifications:
                self.places.acquire()
                threading.Thread(target=self.observe, args=(method, params), daemon=True).start()
            return
        with self.counting:
            asked = self.waiting.pop(frame_id, None) if isinstance(frame_id, int) else None
        if asked and ("result" in frame or "error" in frame):
            asked[1] = frame
            asked[0].set()
        # Anything else is too late, or was never asked.

    def begin(self, request_id, method, params):
        if method not in self.requests:
            self.send({"id": request_id, "error": {"code": -32601, "message": "method not found: " + method}})
            return
        cancelled = threading.Event()
        self.working[(type(request_id), request_id)] = cancelled
        self.places.acquire()
        threading.Thread(target=self.serve, args=(request_id, method, params, cancelled), daemon=True).start()

    def run(self):
        """Reads until the input ends: without a host there is nothing to do."""
        while True:
            line = sys.stdin.buffer.readline(MAX_LINE + 1)
            if not line:
                leave(0)
            if len(line) > MAX_LINE:
                leave(1)  # nobody may fill our memory
            if line.strip():
                try:
                    self.take(line.decode("utf-8"))
                except UnicodeDecodeError:
                    pass


def leave(code):
    """At once, whatever threads still wait for."""
    try:
        sys.stdout.flush()
    except OSError:
        pass
    os._exit(code)


def complain(error):
    """Standard error is a log that the host keeps."""
    print(error, file=sys.stderr, flush=True)
