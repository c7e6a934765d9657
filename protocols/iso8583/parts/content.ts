/**
 * What characters a value may hold in the words of ISO 8583:1987. Content `b` is bytes, which a
 * message holds as upper-case hex.
 */
export type Content = "n" | "an" | "ans" | "b";

/** For each character code, 1 if it is allowed. */
export type Alphabet = Uint8Array;

export const alphabets: Record<Content, Alphabet> = {
  n: makeAlphabet(/[0-9]/),
  an: makeAlphabet(/[0-9A-Za-z ]/),
  ans: makeAlphabet(/[ -~]/),
  b: makeAlphabet(/[0-9A-F]/),
};

export function isWrittenIn(alphabet: Alphabet, value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    if (alphabet[value.charCodeAt(at)] !== 1) return false;
  }
  return true;
}

function makeAlphabet(allowed: RegExp): Alphabet {
  return Uint8Array.from({ length: 256 }, (_, code) =>
    allowed.test(String.fromCharCode(code)) ? 1 : 0,
  );
}
