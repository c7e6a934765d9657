/**
 * Runs in a thread of its own: opening a token is some milliseconds of signatures and certificates,
 * and nobody else's request shall wait for them.
 */
import { parentPort } from "node:worker_threads";
import { openToken as openWalletA } from "@tollgate/protocols/walleta";
import { openToken as openWalletB } from "@tollgate/protocols/walletb";
import type { OpeningAnswer, OpeningQuestion } from "./wallet-worker.ts";

parentPort?.on("message", ({ id, text, trust }: OpeningQuestion) => {
  const startedAt = performance.now();
  const opened = "recipientId" in trust ? openWalletB(text, trust) : openWalletA(text, trust);
  // An instance of a class arrives as a plain object, so a fault is told by its reason.
  const tookMs = performance.now() - startedAt;
  const answer: OpeningAnswer =
    "reason" in opened ? { id, tookMs, fault: opened } : { id, tookMs, opened };
  parentPort?.postMessage(answer);
});
