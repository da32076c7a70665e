"""The plugin for opencode: it passes each event to `hookwright hook` and throws for every refusal and every failure."""

from __future__ import annotations

import json

_PLUGIN = """\
// Written by `hookwright export --to opencode`; remove it with `hookwright export --to opencode --remove`.
// Every call goes to: hookwright hook --from opencode
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const OFF = "To switch the hooks off, run: hookwright export --to opencode --remove"

function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM[0], PROGRAM.slice(1), { stdio: ["pipe", "pipe", "pipe"] })
    let out = "", err = ""
    child.stdout.on("data", (data) => { out += data })
    child.stderr.on("data", (data) => { err += data })
    child.stdin.on("error", () => {})
    child.on("error", (error) => reject(new Error(`Hookwright could not run your hooks: ${error.message}. ${OFF}`)))
    child.on("close", (status) => {
      let answer
      try { answer = status === 0 ? JSON.parse(out) : undefined } catch { answer = undefined }
      if (answer === undefined || answer === null || typeof answer !== "object")
        reject(new Error(err.trim() || `Hookwright ended with status ${status} and no answer. ${OFF}`))
      else if (typeof answer.deny === "string") reject(new Error(answer.deny))
      else resolve(answer)
    })
    child.stdin.end(JSON.stringify(event))
  })
}

export const Hookwright = async ({ directory }) => {
  const common = (name, session) => ({ hook_event_name: name, session_id: session ?? "", cwd: directory })
  const observed = (event) => ask(event).catch((error) => console.error(`hookwright: ${error.message}`))
  return {
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const answer = await ask({ ...common("tool.execute.before", input.sessionID), ...call })
      if (answer.input) {
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, answer.input)
      }
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID }
      await observed({ ...common("tool.execute.after", input.sessionID), ...call, tool_response: output.output })
    },
    "chat.message": async (input, output) => {
      const prompt = (output.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\\n")
      await ask({ ...common("chat.message", input.sessionID), prompt })
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created" || event.type === "session.idle") await observed(common(event.type, session))
    },
  }
}
"""


def plugin(program: list[str]) -> str:
    """Return the plugin; `program` is the command that answers events."""
    return _PLUGIN.replace("@PROGRAM@", json.dumps(program))


def is_plugin(text: str) -> bool:
    """Return whether a file is a plugin that we wrote."""
    return text.startswith(_PLUGIN.split("\n", 1)[0])
