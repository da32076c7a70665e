#!/usr/bin/env node
'use strict';

const BLOCKED = [
  { pattern: /\bkubectl\s+delete\b/, reason: 'Cluster objects are removed by the pipeline, not by hand.' },
  { pattern: /\bterraform\s+(apply|destroy)\b/, reason: 'Terraform runs in CI only.' },
];

let data = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  data += chunk;
});
process.stdin.on('end', () => {
  const { tool_input: toolInput } = JSON.parse(data);
  const hit = BLOCKED.find(({ pattern }) => pattern.test(toolInput.command || ''));
  if (hit) {
    process.stdout.write(
      JSON.stringify({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: hit.reason,
        },
      }),
    );
  }
});
