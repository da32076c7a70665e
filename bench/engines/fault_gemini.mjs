// The hook runner of gemini-cli-core under one hostile hook: a JSON line in, what came of it out.
//
//     node fault_gemini.mjs FOLDER      where it is installed
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

for (const name of ['log', 'debug', 'info', 'warn', 'error']) console[name] = () => {};
const require = createRequire(join(process.argv[2], 'package.json'));
const root = dirname(require.resolve('@google/gemini-cli-core/package.json'));
const load = (name) => import(join(root, 'dist/src/hooks', name));
const { HookRunner } = await load('hookRunner.js');
const { HookPlanner } = await load('hookPlanner.js');
const { HookAggregator } = await load('hookAggregator.js');
const { HookEventHandler } = await load('hookEventHandler.js');

const given = {
  isTrustedFolder: () => true,
  sanitizationConfig: {},
  storage: { getPlansDir: () => '/tmp' },
  getSessionId: () => 's',
  getWorkingDir: () => process.cwd(),
  getTelemetryEnabled: () => false,
  getUsageStatisticsEnabled: () => false,
};
const config = new Proxy(given, { get: (known, name) => (name in known ? known[name] : () => undefined) });

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const job = JSON.parse((await lines.next()).value);
const entries = job.commands.map((command) => ({
  config: { type: 'command', command, timeout: job.timeout * 1000 },
  source: 'user',
  eventName: 'BeforeTool',
  matcher: 'Bash',
  enabled: true,
}));
const handler = new HookEventHandler(
  { config },
  new HookPlanner({ getHooksForEvent: () => entries }),
  new HookRunner(config),
  new HookAggregator(),
);
const began = performance.now();
let decision = 'none';
try {
  const result = await handler.fireBeforeToolEvent('Bash', { command: 'x'.repeat(job.size) });
  const said = result.finalOutput;
  if (said?.isBlockingDecision?.() || said?.shouldStopExecution?.()) decision = 'deny';
  else if (said?.isAskDecision?.()) decision = 'ask';
  else if (said?.decision === 'allow' || said?.decision === 'approve') decision = 'allow';
} catch (error) {
  decision = `raises ${error?.name}`;
}
process.stdout.write(JSON.stringify({ decision, seconds: (performance.now() - began) / 1000 }) + '\n');
await lines.next();
process.exit(0);
