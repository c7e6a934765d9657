/**
 * Solves the proof of work of the payment page. It searches a number for which the SHA-256 hash of
 * challenge and number begins with enough zero bits. It works in slices of some milliseconds, so
 * that the page stays responsive. The hashed text fits one block of SHA-256.
 */
// biome-ignore lint/correctness/noUnusedVariables: the script after it uses it
const solveProof = (() => {
  const [start, constants] = [[], []];
  for (let prime = 2; constants.length < 64; prime += 1) {
    let isPrime = true;
    for (let by = 2; by * by <= prime; by += 1) if (prime % by === 0) isPrime = false;
    if (!isPrime) continue;
    if (start.length < 8) start.push(((Math.sqrt(prime) % 1) * 2 ** 32) | 0);
    constants.push(((Math.cbrt(prime) % 1) * 2 ** 32) | 0);
  }
  const words = new Int32Array(64);

  /**
   * Returns the first 32 bits of a text's SHA-256 hash. The text must have at most 55 characters.
   */
  function firstWord(text) {
    words.fill(0, 0, 16);
    for (let at = 0; at < text.length; at += 1) {
      words[at >> 2] |= text.charCodeAt(at) << (24 - 8 * (at & 3));
    }
    words[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
    words[15] = 8 * text.length;
    for (let at = 16; at < 64; at += 1) {
      const low = words[at - 15];
      const high = words[at - 2];
      const one = turn(low, 7) ^ turn(low, 18) ^ (low >>> 3);
      const two = turn(high, 17) ^ turn(high, 19) ^ (high >>> 10);
      words[at] = words[at - 16] + one + words[at - 7] + two;
    }
    let [a, b, c, d, e, f, g, h] = start;
    for (let at = 0; at < 64; at += 1) {
      const choice = (e & f) ^ (~e & g);
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice) | 0;
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      const added = (one + constants[at] + words[at]) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + added) | 0;
      d = c;
      c = b;
      b = a;
      a = (added + two) | 0;
    }
    return (start[0] + a) >>> 0;
  }

  function turn(word, by) {
    return (word >>> by) | (word << (32 - by));
  }

  /**
   * Searches a solution, and calls `done` with the challenge and the solution. The difficulty can
   * be 32 bits at most.
   */
  return function solve(challenge, done) {
    const bits = Number(challenge.split(".")[0]);
    const seed = challenge.slice(-40);
    let count = 0;
    const slice = () => {
      const end = Date.now() + 12;
      while (Date.now() < end) {
        for (let tries = 0; tries < 200; tries += 1, count += 1) {
          if (Math.clz32(firstWord(seed + count)) >= bits) return done(`${challenge}:${count}`);
        }
      }
      return setTimeout(slice, 0);
    };
    slice();
  };
})();
