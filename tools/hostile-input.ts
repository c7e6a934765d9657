/**
 * Makes inputs on which a regular expression may backtrack: the start of a match, then many copies
 * of a text that one of its repetitions matches, and an end that does not match. The expression is
 * parsed only as far as this needs; assertions without a character are left out.
 */
type Node =
  | { readonly kind: "character"; readonly samples: readonly string[] }
  | { readonly kind: "choice"; readonly branches: readonly (readonly Node[])[] }
  | { readonly kind: "repeat"; readonly of: Node; readonly min: number; readonly max: number };

/** `text(count)` contains the repeated part `count` times. */
export type HostileInput = { readonly name: string; readonly text: (count: number) => string };

/** A repetition of at most this many characters cannot be made long. */
const shortMax = 100;
const endings = ["\0", "", "\n\0\n"];

export function* hostileInputs(pattern: RegExp): Generator<HostileInput> {
  const seen = new Set<string>();
  for (const { before, pumped } of pumpsIn(parse(pattern), "")) {
    for (const ending of endings) {
      const name = JSON.stringify([before, pumped, ending]);
      if (pumped === "" || seen.has(name)) continue;
      seen.add(name);
      yield { name, text: (count) => before + pumped.repeat(count) + ending };
    }
  }
}

type Pump = { readonly before: string; readonly pumped: string };

function* pumpsIn(nodes: readonly Node[], before: string): Generator<Pump> {
  let start = before;
  for (const node of nodes) {
    if (node.kind === "choice") {
      for (const branch of node.branches) yield* pumpsIn(branch, start);
    } else if (node.kind === "repeat") {
      if (node.max > shortMax) {
        for (const pumped of samplesOf(node.of)) yield { before: start, pumped };
      }
      yield* pumpsIn([node.of], start);
    }
    start += sampleOf(node);
  }
}

/** Returns the shortest text that the node matches. */
function sampleOf(node: Node): string {
  if (node.kind === "repeat") return sampleOf(node.of).repeat(node.min);
  return samplesOf(node)[0] ?? "";
}

/**
 * Returns texts that one iteration of a repetition may match. A repetition within it occurs once or
 * twice.
 */
function samplesOf(node: Node): readonly string[] {
  if (node.kind === "character") return node.samples;
  if (node.kind === "repeat") {
    const once = samplesOf(node.of);
    return node.min === 0 ? ["", ...once] : once.map((each) => each.repeat(node.min));
  }
  return node.branches.flatMap((branch) => {
    const shortest = branch.map(sampleOf).join("");
    const fuller = branch.map((each) => samplesOf(each).at(-1) ?? "").join("");
    return branch.length === 1 && branch[0] ? samplesOf(branch[0]) : [shortest, fuller];
  });
}

const candidates = [..." 0a-./<,=\t\n\"'_:;&?#+*()[]{}|@%$^~`!\\>AZz9\0é€"];
const samplesMax = 8;

/** Returns samples of what a letter, an escape or a class matches. */
function characterOf(source: string, flags: string): Node {
  const alone = new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, ""));
  const own = source.length === 1 ? [source] : [];
  const samples = [...own, ...candidates].filter((each) => alone.test(each));
  return { kind: "character", samples: [...new Set(samples)].slice(0, samplesMax) };
}

const tokenForm =
  /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c.|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|[)|]|./suy;
const countForm = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;

function parse({ source, flags }: RegExp): readonly Node[] {
  let at = 0;
  return [readChoice()];

  function readChoice(): Node {
    const branches: Node[][] = [[]];
    while (at < source.length && source[at] !== ")") {
      if (source[at] === "|") {
        branches.push([]);
        at += 1;
      } else branches.at(-1)?.push(...readRepeated());
    }
    return { kind: "choice", branches };
  }

  function readRepeated(): readonly Node[] {
    const token = take(tokenForm)[0];
    let node: Node | undefined;
    if (token.startsWith("(")) {
      const inner = readChoice();
      at += 1;
      // A lookaround is treated like an ordinary group, because it backtracks too.
      const isRefused = token === "(?!" || token === "(?<!";
      node = isRefused ? { kind: "repeat", of: inner, min: 0, max: 1 } : inner;
    } else if (!/^(?:[$^]|\\[bB]|\\k.*|\\[1-9])$/s.test(token)) node = characterOf(token, flags);
    const [whole, sign, least = "", comma = "", most = ""] = take(countForm);
    if (node === undefined) return [];
    if (whole === "") return [node];
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
    const bounded = comma === "" ? min : most === "" ? Number.POSITIVE_INFINITY : Number(most);
    const max = sign === undefined ? bounded : sign === "?" ? 1 : Number.POSITIVE_INFINITY;
    return [{ kind: "repeat", of: node, min, max }];
  }

  function take(form: RegExp): readonly [string, ...(string | undefined)[]] {
    form.lastIndex = at;
    const [whole = "", ...parts] = form.exec(source) ?? [""];
    at += whole.length;
    return [whole, ...parts];
  }
}
