import unittest

from main import tool_execute


def call(tool, **args):
    return tool_execute({"call_id": "c", "tool": tool, "arguments": args}, None)


class Greeting(unittest.TestCase):
    def test_it_greets_by_name(self):
        self.assertEqual(call("greet", who="Ada"), {"content": "Hello, Ada!"})

    def test_it_says_what_is_wrong(self):
        self.assertEqual(call("greet", who=5), {"content": "who must be text", "is_error": True})
        self.assertTrue(call("nothing")["is_error"])
