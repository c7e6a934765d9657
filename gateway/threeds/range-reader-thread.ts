/**
 * Runs in a thread of its own, which lives for one refresh: reading a list of 250,000 ranges takes
 * seconds. The ranges stay here and leave in portions of JSON.
 */
import { serveRequests } from "../worker-threads/worker-thread.ts";
import { type RangeAnswer, readRangeAnswer, writePortion } from "./range-answer.ts";
import type { ReaderReply, ReaderRequest } from "./range-reader.ts";

let answer: RangeAnswer | undefined;

serveRequests<ReaderRequest, ReaderReply>((request, reply) => {
  if ("from" in request) {
    const ranges = answer?.kind === "changes" ? answer[request.list] : [];
    reply({ portion: writePortion(ranges, request.from) });
    return undefined;
  }
  answer = readRangeAnswer(Buffer.concat(request.blocks).toString(), request.reading);
  if (answer.kind !== "changes") reply(answer);
  else reply({ ...answer, put: answer.put.length, remove: answer.remove.length });
  return undefined;
});
