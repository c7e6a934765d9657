/** An answer that arrives at another process is passed to the process that waits for it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asGateId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { TestClock } from "../values/testing.ts";
import type { RunningAcquirer } from "./gates.ts";
import { makeHandedAnswers } from "./handed-answers.ts";

const gate = asGateId("7");
const contextOf = (sealed: Uint8Array) => Buffer.from(sealed).toString().split("|");

/** Processes with the same key. Each receives everything that one of them sends. */
function startProcesses(count: number) {
  const sent: string[] = [];
  const taken: string[] = [];
  const failed: unknown[] = [];
  const clock = new TestClock();
  const processes = Array.from({ length: count }, (_, at) =>
    makeHandedAnswers({
      clock,
      gates: {
        find: (id) => {
          const takeAnswer = (answer: string) => taken.push(`${at}: ${answer}`) > 0;
          return id === gate ? ({ takeAnswer } as unknown as RunningAcquirer) : undefined;
        },
      },
      send: async (text) => {
        sent.push(text);
        for (const each of processes) each.receive(text);
      },
      sealSecret: (answer, context) => Buffer.from(`${context}|${answer.reveal()}`),
      openSecret: (sealed, context) => {
        const [own, answer = ""] = contextOf(sealed);
        if (own !== context) throw new Error("sealed for another gate");
        return new Secret(answer);
      },
      onFailure: (error) => failed.push(error),
    }),
  );
  return { processes, sent, taken, failed };
}

test("all processes are told, and the answer travels sealed", () => {
  const { processes, sent, taken, failed } = startProcesses(2);

  processes[0]?.handOver(gate, "0210 4000001000000018");

  assert.deepEqual(taken, ["0: 0210 4000001000000018", "1: 0210 4000001000000018"]);
  assert.ok(sent.every((text) => !text.includes("4000001000000018")));
  assert.deepEqual(failed, []);
});

test("an answer that is sealed for another gate is reported, and not taken", () => {
  const { processes, sent, taken, failed } = startProcesses(1);
  processes[0]?.handOver(asGateId("8"), "0210");
  const [text = ""] = sent;

  processes[0]?.receive(text.replace(/^8/, "7"));

  assert.deepEqual(taken, []);
  assert.equal(failed.length, 1);
});
