/**
 * Runs in its own thread, because decrypting a token takes milliseconds of signature and
 * certificate checks, which would delay other requests.
 */
import { openToken as openWalletA } from "@tollgate/protocols/walleta";
import { openToken as openWalletB } from "@tollgate/protocols/walletb";
import { serveRequests } from "../worker-threads/worker-thread.ts";
import type { OpeningReply, OpeningRequest } from "./payment-data.ts";

serveRequests<OpeningRequest, OpeningReply>(({ text, trust }, reply) => {
  const startedAt = performance.now();
  const opened = "recipientId" in trust ? openWalletB(text, trust) : openWalletA(text, trust);
  const tookMs = performance.now() - startedAt;
  // An instance of a class arrives as a plain object, so a fault is recognised by its reason.
  reply("reason" in opened ? { tookMs, fault: opened } : { tookMs, opened });
  return undefined;
});
