/**
 * Reads a list of ranges in a thread for one refresh, because 250,000 ranges take seconds. The
 * ranges leave the thread in portions of JSON.
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
    // A thread that replaces a lost one knows no ranges. An empty portion from it would lose them.
    if (answer?.kind !== "changes") reply({ kind: "invalid", cause: "the thread has no ranges" });
    else reply({ portion: writePortion(answer[request.list], request.from) });
    return undefined;
  }
  answer = readRangeAnswer(Buffer.concat(request.blocks).toString(), request.reading);
  if (answer.kind !== "changes") reply(answer);
  else reply({ ...answer, put: answer.put.length, remove: answer.remove.length });
  return undefined;
});
