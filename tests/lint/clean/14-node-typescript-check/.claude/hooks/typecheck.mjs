#!/usr/bin/env node
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const event = JSON.parse(readFileSync(0, "utf8"));
const file = event.tool_input?.file_path ?? "";
if (!/\.tsx?$/.test(file)) {
  process.exit(0);
}
try {
  execFileSync("npx", ["tsc", "--noEmit", "--pretty", "false"], { encoding: "utf8" });
} catch (error) {
  const lines = String(error.stdout).split("\n").slice(0, 20).join("\n");
  console.error(`Type errors after this edit:\n${lines}`);
  process.exit(2);
}
