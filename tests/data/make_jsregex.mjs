// Writes jsregex.json: what JavaScript itself answers to `new RegExp(pattern).test(subject)`.
// Run with `node tests/data/make_jsregex.mjs`; the tests read the table and need no node.
import { writeFileSync } from "node:fs";

const subjects = [
  "", "a", "b", "aa", "ab", "ba", "aab", "abab", "abcabc", "aaaa", "A", "Bash", "bash", "Bash\n", "Edit", "MultiEdit",
  "NotebookEdit", "mcp__memory__create", "mcp__fs__write_file", "mcp__", "my_mcp_tool", "general-purpose", "a-b", "a_b",
  "a b", " ", "\t", "\n", "a\nb", "\r", "\u2028", "\u00a0", "\ufeff", "\u180e", "é", "ß", "٣", "😀", "\ud83d", "1", "12", "8",
  "a{2}", "a{", "a{,2}", "{", "}", "]", "-", "^", "$", "\\", "\\c", "c", "\x01", "\x08", "\0", "\x0b", "k<n>", "k", "u0061",
  "x6", "u{42}", "uuu", "p{L}", "foo.bar", "foo/bar", "aXbXc", "xyzzy", "((", "0", "_", "é1_", "\x1f", "\u0130",
];

const patterns = [
  // literals, anchors, alternatives
  "a", "^a", "a$", "^a$", "^$", "", "a|b", "|", "a|", "^(a|b)$", "^a|b$", "Bash", "^Ba", "sh$", "Bash\\b", "B.*h", "[Bb]ash",
  "Edit.*", "^Edit$", "Read$|^Edit", "mcp__.*", "mcp__*", "mcp__.*__write.*", "^(?!Bash).*$", "^(?!mcp__)", "/Bash/", "!Bash",
  "Bash(echo *)", "Bash;Read", "Edit,Ba.*", ".*", ".+", "^.$", "^..$", "^.{3}$", "\\.", "foo\\.bar", "foo\\/bar", "foo/bar",
  // classes
  "[abc]", "[^abc]", "[a-c]", "[^]", "[]", "[^]a", "[]a", "[a", "[", "]", "[]]", "[^a]", "[-a]", "[a-]", "[a\\-c]", "[\\d]",
  "[\\d-x]", "[a-\\d]", "[\\w-]", "[\\s\\S]", "[^\\w]", "[b-a]", "[a-b-c]", "[\\]]", "[\\b]", "[\\B]", "[\\c]", "[\\cA]",
  "[\\c1]", "[\\c_]", "[\\c*]", "[\\x41]", "[\\u0061]", "[\\u{61}]", "[\\0]", "[\\1]", "[\\8]", "[\\18]", "[\\377]", "[\\400]",
  "[\\k]", "[\\k<n>]", "[😀]", "[^😀]", "[.]", "[$]", "[|]", "[(]", "[a^]", "[\\^]", "[\\", "[\\]", "[[]", "[a&&b]", "[😀-😁]",
  // escapes
  "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "^\\d$", "^\\w$", "^\\s$", "\\t", "\\n", "\\r", "\\v", "\\f", "\\0", "\\00",
  "\\01", "\\1", "\\7", "\\8", "\\9", "\\10", "\\18", "\\x41", "\\x4", "\\x", "\\u0061", "\\u006", "\\u", "\\u{42}", "\\u{61}",
  "\\ca", "\\cA", "\\c", "\\c1", "\\c_", "\\A", "\\Z", "\\h", "\\e", "\\Q", "\\a", "\\z", "\\-", "\\_", "\\/", "\\\\", "\\", "a\\",
  "\\k", "\\k<n>", "\\k<", "\\p{L}", "\\P", "\\😀", "^\\S+$", "^\\u{3}$", "\\ud83d", "\\ud83d\\ude00", "^\\ud83d$", "\\b\\w+\\b",
  // groups, named groups, references
  "(a)", "(?:a)", "(a)(b)", "(a)\\1", "(a|b)\\1", "\\1(a)", "(a\\1)", "(a)|\\1b", "(a)?\\1b", "(a*)\\1$", "(?:(a)|b)*\\1",
  "(?<n>a)", "(?<n>a)\\k<n>", "\\k<n>(?<n>a)", "(?<n>a)\\k", "(?<n>a)\\k<m>", "(?<n>a)\\k<n", "(?<n>a)|(?<n>b)", "(?<n>a)(?<m>b)\\k<m>",
  "(?<>a)", "(?<1>a)", "(?<a b>a)", "(?<a-b>a)", "(?<$>a)", "(?<_>a)", "(?<é>a)\\k<é>", "(?<\\u0061>a)\\k<a>", "(?<\\u{61}>b)\\k<a>",
  "(?<𝒜>a)", "(?<\\u{110000}>a)", "(?<\\x61>a)", "(?<\\u61>a)", "(?<\\ud835\\udc9c>a)\\k<𝒜>", "(?<\\ud835>a)", "(?<a\u200d>a)", "(?<\u200d>a)", "(?<n>a)[\\k]", "(?<n>.)(?<m>.)\\k<m>\\k<n>", "(.)(.)\\2\\1", "(a)(b)?\\2", "(?:(a)|(b))\\1\\2$", "(a{2})\\1",
  "(", ")", "()", "(?", "(?:", "(?a)", "(?i)a", "(?i:a)", "(?-i:a)", "(?s:.)", "(?P<n>a)", "(?P=n)", "(?>a)", "(?#c)", "(?|a)", "(?'n'a)",
  "(?<n", "(?<n>", "(a", "a)", "((a)", "(a))", "(?R)", "(?(1)a|b)", "()*", "(?:)+", "(|a)+", "(a|)+$",
  // quantifiers
  "a*", "a+", "a?", "a*?", "a+?", "a??", "^a*$", "^a+$", "^a?$", "a{2}", "^a{2}$", "^a{2,}$", "^a{1,3}$", "^a{0}$", "^a{0,1}$",
  "^a{2}?$", "^a{1,}?$", "a{2,1}", "a{,2}", "^a{,2}$", "a{", "a{1", "a{1,", "a{1,2", "a{a}", "a{ 2}", "{", "{1}", "{1", "}", "a{2}{3}",
  "a**", "a++", "a*+", "a?+", "a???", "*", "+", "?", "*a", "a|*", "(*)", "^*", "$*", "\\b+", "\\B?", "(?=a)*", "(?!a)+", "(?=a){2}b",
  "(?<=a)*", "(?<!a)+", "(?:a|b)+$", "(ab)+", "(ab){2}", "(ab){2}c", "(?:ab)*?$", "^(a+)+$", "^(a|aa)+$", "^(a*)*$", "^(?:a?){3}$",
  "a{2147483648}", "a{0,99999999999}", "a{99999999999,1}", "x{2147483648,2147483647}", "^(?:){1000}$", "^(?:a|^){3}$", "^(?:a|\\b){2}$",
  // lookarounds
  "(?=a)", "(?=a)a", "(?=b)a", "a(?=b)", "a(?!b)", "(?!a)", "(?!)", "(?=)", "(?<=a)b", "(?<!a)b", "(?<=a+)b", "(?<=^|,)a", "(?<=(a))b",
  "(?<=a)(?=b)", "^(?=.*a)(?=.*b)", "^(?!.*b)", "(?<=\\1(a))b", "(?<=(a)\\1)b", "(?=(a))\\1", "(?!(a))\\1b", "(?=(a*))\\1b",
  "(?<=(\\w){2})b", "(?<=ab)c", "(?<!ab)c", "(?<=a|ab)c", "(?<=[^a])b", "(?<=$)", "(?<=^)a", "(?=$)", "(?=a", "(?<=a", "(?<a",
  "^(?:(?!__).)*$", "^mcp__(?!memory)", "(?<!my_)mcp", "(?=(?=(a)))a\\1", "(?:(?=(a))a)+\\1", "(?<=(?<n>a))\\k<n>",
  // exploding patterns
  "(a+)+$", "(a|aa)+$", "(.*a){12}$", "(\\w+\\s?)*$", "(a*)*b", "(a|a)*b", "(?:a*a*)*b", "(x+x+)+y",
];

// Random patterns from a fixed seed, so that the table is the same every time.
let seed = 20261115;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const pick = (list) => list[random(list.length)];
const atoms = ["a", "b", "c", ".", "\\w", "\\d", "\\s", "[ab]", "[^a]", "^", "$", "\\b", "\\B", "\\1", "\\2", "", "-", "\\n", "[^]"];
const ends = ["*", "+", "?", "{2}", "{0,2}", "{1,3}", "*?", "+?", "??", "{2,}?"];
const tree = (depth) => {
  const kind = depth === 0 ? 0 : random(20);
  if (kind < 5) return pick(atoms);
  if (kind < 9) return tree(depth - 1) + tree(depth - 1);
  if (kind < 12) return `(${tree(depth - 1)}|${tree(depth - 1)})`;
  if (kind < 17) return `${pick(["(", "(?:"])}${tree(depth - 1)})${pick(ends)}`;
  return `${pick(["(?=", "(?!", "(?<=", "(?<!"])}${tree(depth - 1)})`;
};
const pieces = [..."ab()|[]^$.*+?{}\\-,12<>=!:kxu", "(?:", "(?=", "(?<!", "(?<n>", "\\k<n>", "\\1", "\\b", "[^", "{2}", "{1,2}", "\\c", "😀"];
for (let i = 0; i < 250; i++) patterns.push(tree(4));
for (let i = 0; i < 250; i++) patterns.push(Array.from({ length: 1 + random(8) }, () => pick(pieces)).join(""));

const rows = [...new Set(patterns)].map((pattern) => {
  try {
    const regexp = new RegExp(pattern);
    return [pattern, subjects.map((subject) => (regexp.test(subject) ? "1" : "0")).join("")];
  } catch (error) {
    return [pattern, null, error.message.split(": ").at(-1)];
  }
});
const table = { node: process.version, subjects, rows };
const lines = rows.map((row) => "  " + JSON.stringify(row)).join(",\n");
const text = `{"node": ${JSON.stringify(table.node)},\n "subjects": ${JSON.stringify(subjects)},\n "rows": [\n${lines}\n]}\n`;
writeFileSync(new URL("jsregex.json", import.meta.url), text);
