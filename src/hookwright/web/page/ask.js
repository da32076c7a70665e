// Asks the server. The token comes in the address's fragment, which no server sees, and is kept for this tab alone.
const KEY = "hookwright-token";

export function token() {
  const given = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(given)) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEY) || "";
}

export class Refused extends Error {}

export async function ask(path, options = {}) {
  const response = await fetch(path, { ...options, headers: { Authorization: `Bearer ${token()}` }, cache: "no-store" });
  if (!response.ok) throw new Refused((await response.text()).trim() || `status ${response.status}`);
  return options.stream ? response : response.json();
}

// Follows the traffic until it is told to stop; after a loss it continues where it was.
export async function follow(place, take, say) {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      const { boot = "", at = 0, names = 0 } = place();
      const response = await ask(`/api/stream?boot=${boot}&after=${at}&names=${names}`, { stream: true });
      say("live");
      wait = 250;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const frames = (rest + value).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) {
          const line = frame.split("\n").find((each) => each.startsWith("data: "));
          if (line) take(JSON.parse(line.slice(6)));
        }
      }
      say("the console closed the connection; trying again");
    } catch (error) {
      say(error instanceof Refused ? error.message : "the console does not answer; trying again");
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}
