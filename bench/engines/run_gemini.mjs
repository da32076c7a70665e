// The hook runner of gemini-cli-core as a contender: "COUNT INFLIGHT" on stdin, nanoseconds on stdout.
//
//     node run_gemini.mjs FOLDER HOOKS      where it is installed; the number of hooks of the event, 0 for none of them
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// Whatever the package prints goes nowhere: printing would cost time that is not the engine's.
for (const name of ['log', 'debug', 'info', 'warn']) console[name] = () => {};
const require = createRequire(join(process.argv[2], 'package.json'));
const root = dirname(require.resolve('@google/gemini-cli-core/package.json'));
const load = (name) => import(join(root, 'dist/src/hooks', name));
const { HookRunner } = await load('hookRunner.js');
const { HookPlanner } = await load('hookPlanner.js');
const { HookAggregator } = await load('hookAggregator.js');
const { HookEventHandler } = await load('hookEventHandler.js');

const hooks = Number(process.argv[3]);
// What a host configures; everything else that is asked for, such as telemetry, is off.
const given = {
  isTrustedFolder: () => true,
  sanitizationConfig: {},
  storage: { getPlansDir: () => '/tmp' },
  getSessionId: () => 's',
  getWorkingDir: () => '/tmp',
  getTelemetryEnabled: () => false,
  getUsageStatisticsEnabled: () => false,
};
const config = new Proxy(given, { get: (known, name) => (name in known ? known[name] : () => undefined) });
// Equal commands would be one hook for some engines: each has its own comment.
const entries = Array.from({ length: Math.max(hooks, 1) }, (_, number) => ({
  config: { type: 'command', command: `true # ${number}` },
  source: 'user',
  eventName: 'BeforeTool',
  matcher: hooks ? 'Bash' : 'Write',
  enabled: true,
}));
const handler = new HookEventHandler(
  { config },
  new HookPlanner({ getHooksForEvent: () => entries }),
  new HookRunner(config),
  new HookAggregator(),
);
const input = { command: 'x'.repeat(700) };

async function once() {
  const result = await handler.fireBeforeToolEvent('Bash', input);
  if (!result.success) throw new Error(`a hook failed: ${result.errors}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const each = [];
  const began = process.hrtime.bigint();
  for (let left = Number(line.split(' ')[0]); left > 0; left--) {
    const start = process.hrtime.bigint();
    await once();
    each.push(process.hrtime.bigint() - start);
  }
  process.stdout.write([process.hrtime.bigint() - began, ...each].join(' ') + '\n');
}
