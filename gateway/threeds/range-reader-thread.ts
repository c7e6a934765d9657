/**
 * Runs in a thread of its own, which lives for one refresh: reading a list of 250,000 ranges takes
 * seconds. The ranges stay here and leave in portions of JSON.
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
    // A thread that replaces a lost one knows no ranges: an empty portion would lose them.
    if (answer?.kind !== "changes") reply({ kind: "invalid", cause: "the thread has no ranges" });
    else reply({ portion: writePortion(answer[request.list], request.from) });
    return undefined;
  }
  answer = readRangeAnswer(Buffer.concat(request.blocks).toString(), request.reading);
  if (answer.kind !== "changes") reply(answer);
  else reply({ ...answer, put: answer.put.length, remove: answer.remove.length });
  return undefined;
});
