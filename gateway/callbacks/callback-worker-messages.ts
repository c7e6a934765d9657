/**
 * What the gateway and its sending thread say to each other: flat lists of plain values, because an
 * object costs several times as much to hand over, and this happens for every callback.
 */
import { asInstant } from "../values/time.ts";
import type { DeliveryAttempt } from "./callback.ts";
import type { Message } from "./send.ts";

export type Plain = string | number | undefined;

/** An attempt without what was sent, which whoever asked knows. */
export type Outcome = Omit<DeliveryAttempt, "method" | "url" | "body">;

const questionLength = 5;
const answerLength = 7;

export function packQuestion(id: number, { method, url, headers, body }: Message): Plain[] {
  return [id, method, url, JSON.stringify(headers), body];
}

export function* unpackQuestions(words: readonly Plain[]): Iterable<[id: number, Message]> {
  for (let at = 0; at < words.length; at += questionLength) {
    const [id, method, url, headers, body] = words.slice(at, at + questionLength);
    const isForm = method === "POST";
    yield [
      Number(id),
      {
        method: isForm ? "POST" : "GET",
        url: String(url),
        headers: JSON.parse(String(headers)),
        body: String(body),
      },
    ];
  }
}

export function packAnswer(id: number, attempt: DeliveryAttempt): Plain[] {
  const { at, durationMs, status, failure, answer, retryAfterMs } = attempt;
  return [id, at, durationMs, status, failure, answer, retryAfterMs];
}

export function* unpackAnswers(words: readonly Plain[]): Iterable<[id: number, Outcome]> {
  for (let index = 0; index < words.length; index += answerLength) {
    const [id, at, durationMs, status, failure, answer, retryAfterMs] = words.slice(
      index,
      index + answerLength,
    );
    yield [
      Number(id),
      {
        at: asInstant(Number(at)),
        durationMs: Number(durationMs),
        status: numberOf(status),
        failure: failure === undefined ? undefined : String(failure),
        answer: String(answer),
        retryAfterMs: numberOf(retryAfterMs),
      },
    ];
  }
}

function numberOf(word: Plain): number | undefined {
  return word === undefined ? undefined : Number(word);
}
