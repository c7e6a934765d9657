/**
 * Runs in its own thread, which lives for one refresh, because reading a list of 250,000 ranges
 * takes seconds. The ranges stay in the thread and leave it in portions of JSON.
 */
import { serveRequests } from "../worker-threads/worker-thread.ts";
import {
  type RangeAnswer,
  type ReaderReply,
  type ReaderRequest,
  readRangeAnswer,
  writePortion,
} from "./range-reader.ts";

let answer: RangeAnswer | undefined;

serveRequests<ReaderRequest, ReaderReply>((request, reply) => {
  if ("from" in request) {
    // A thread that replaces a lost one knows no ranges. It must not return an empty portion, with
    // which the ranges would be lost.
    if (answer?.kind !== "changes") reply({ kind: "invalid", cause: "the thread has no ranges" });
    else reply({ portion: writePortion(answer[request.list], request.from) });
    return undefined;
  }
  answer = readRangeAnswer(Buffer.concat(request.blocks).toString(), request.reading);
  if (answer.kind !== "changes") reply(answer);
  else reply({ ...answer, put: answer.put.length, remove: answer.remove.length });
  return undefined;
});
