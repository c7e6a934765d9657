/** Reads the audit's filters from the URL, and formats entries and a verification's result. */
import type { Messages } from "../language/texts.ts";
import type { InputOf, OutputOf } from "../shell/call.ts";

export type Entry = OutputOf<"GET /audit">["entries"][number];
/** The result of verifying the audit, as `gw audit verify --json` prints it. */
export type Proof = Readonly<
  Record<"entries" | "signatures" | "outsideHeads" | "unsigned", number>
> &
  Readonly<Record<"restores" | "findings", readonly string[]>>;

export function readAuditQuery(query: URLSearchParams): InputOf<"GET /audit"> {
  const [search, after] = [query.get("search"), query.get("after")];
  return { ...(search && { search }), ...(after && { after }) };
}

type Field = { readonly name: string; readonly text: string; readonly isJson: boolean };
type FieldTexts = Pick<Messages, "fromWhere" | "why" | "before" | "after">;

/** The settings before and after a change are printed as indented JSON. */
export function fieldsOf(entry: Entry, messages: FieldTexts): readonly Field[] {
  const { seq, origin, reason, before, after } = entry;
  const named: readonly (readonly [name: string, text: string | undefined])[] = [
    ["#", String(seq)],
    [messages.fromWhere, origin],
    [messages.why, reason],
    [messages.before, before],
    [messages.after, after],
  ];
  return named.flatMap(([name, text = ""]) => {
    const isJson = text.startsWith("{");
    return text === "" ? [] : [{ name, text: isJson ? indent(text) : text, isJson }];
  });
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

type ProofTexts = Pick<Messages, "whole" | "broken" | "proofs">;

/** The audit is complete only if the verification has no findings. */
export function verdictOf(proof: Proof, messages: ProofTexts) {
  const { findings, entries, signatures, outsideHeads, unsigned, restores } = proof;
  if (findings.length > 0) return { isWhole: false, text: messages.broken, note: "", findings };
  const note = [messages.proofs(signatures, outsideHeads, unsigned), ...restores].join(" ");
  return { isWhole: true, text: messages.whole(entries), note, findings };
}
