/**
 * Every regular expression of the product is run with long input that is made to let it backtrack.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { token } from "../protocols/threeds102/xml.ts";
import { type HostileInput, hostileInputs } from "./hostile-input.ts";
import { isSource, isTest, readRepository, type TextFile } from "./repository.ts";

/** A linear expression needs less than a hundredth of this time. */
const cpuMsMax = 100;
const charactersMax = 40_000;

const literalForm = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/[\\\n])+\//g;
const folders = /^(?:gateway|protocols|client|portal)\//;

const product = readRepository().filter(
  (file) => isSource(file) && !isTest(file) && folders.test(file.path),
);

// The same expression in two files is tried once.
const patterns = new Map(
  product.flatMap((file) =>
    Array.from(patternsIn(file), (pattern) => [`${pattern}`, { file, pattern }] as const),
  ),
);

for (const { file, pattern } of patterns.values()) {
  test(`${file.path}: ${pattern} reads hostile input in linear time`, () => {
    for (const input of hostileInputs(pattern)) assertQuick(pattern, input);
  });
}

/**
 * Expressions that are built from parts with nested repetitions, which the source has no literal
 * of.
 */
const composed = { "protocols/threeds102/xml.ts": token };

for (const [path, pattern] of Object.entries(composed)) {
  test(`${path}: the composed ${pattern} reads hostile input in linear time`, () => {
    for (const input of hostileInputs(pattern)) assertQuick(pattern, input);
  });
}

test("expressions with nested or overlapping repetitions are refused", () => {
  const slow = [
    ...[/^(a+)+$/, /^(\w|\d)*$/, /(<!--.*?-->\s*)*<svg/s, /\s+$/, /^a*a*$/, /^(?:\d+,?)*;$/],
    ...[/^(?=(\w+\s?)+$)x/, /^(?:[^>]|\S)*>$/],
  ];
  for (const pattern of slow) {
    const isSlow = () => {
      for (const input of hostileInputs(pattern)) assertQuick(pattern, input);
    };
    assert.throws(isSlow, /needs/, String(pattern));
  }
});

/**
 * Lengthens the input step by step, so that exponential time is noticed while a step takes a
 * second.
 */
function assertQuick(pattern: RegExp, { name, text }: HostileInput): void {
  const unit = text(1).length - text(0).length;
  for (let count = 4; count * unit <= charactersMax; count = count < 32 ? count + 2 : count * 2) {
    const hostile = text(count);
    pattern.lastIndex = 0;
    const before = process.threadCpuUsage();
    pattern.exec(hostile);
    const { user } = process.threadCpuUsage(before);
    const sentence = `${pattern} needs ${user / 1000} ms for ${hostile.length} characters: ${name}`;
    assert.ok(user / 1000 <= cpuMsMax, sentence);
  }
}

function* patternsIn({ parts, text }: TextFile): Generator<RegExp> {
  for (const { 0: literal, index } of parts.patterns.matchAll(literalForm)) {
    const [flags] = /^[dgimsuvy]*(?!\w)/.exec(text.slice(index + literal.length)) ?? [];
    // This is a closing tag, or the first line of a script.
    if (text[index - 1] === "<" || flags === undefined) continue;
    yield new RegExp(literal.slice(1, -1), flags);
  }
}
