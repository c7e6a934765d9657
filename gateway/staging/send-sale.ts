/** Sends a sale as a merchant does, and asks for its status until it is settled. */
import { setTimeout as pause } from "node:timers/promises";
import { writeForm } from "@tollgate/protocols/form";
import { Problem } from "../values/problem.ts";
import type { ExampleRequest } from "./example-sale.ts";

const askEveryMs = 60;
/** Together about five seconds, in which a payment with the slow test card ends. */
const askTimes = 80;
const answerWithinMs = 10_000;

/** The last status; it may still be `processing`, and then names where the cardholder goes on. */
export async function sendSale(
  requests: Record<"sale" | "status", ExampleRequest>,
): Promise<URLSearchParams | Problem> {
  const answer = await post(requests.sale);
  if (answer instanceof Problem) return answer;
  if (answer.get("type") !== "async-response") {
    return new Problem(
      `The gateway refused the sale: ${answer.get("error-code")} ${answer.get("error-message")}`,
    );
  }
  let status: URLSearchParams = answer;
  for (let times = 0; times < askTimes; times += 1) {
    await pause(askEveryMs);
    const asked = await post(requests.status);
    if (asked instanceof Problem) break;
    status = asked;
    if (status.get("status") !== "processing" || status.has("redirect-to")) break;
  }
  return status;
}

async function post({ url, fields }: ExampleRequest): Promise<URLSearchParams | Problem> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: writeForm(fields),
      signal: AbortSignal.timeout(answerWithinMs),
    });
    // Under GW_LINE_FEEDS every value ends with a line feed.
    return new URLSearchParams((await answer.text()).replaceAll("\n", ""));
  } catch (error) {
    return new Problem(`The gateway did not answer itself at ${url}: ${String(error)}.`);
  }
}
