/**
 * Results of a directory server that a test posts itself: correct, wrong, or from a foreign server.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import type { StatusReply } from "@tollgate/client";
import { directoryChain, makeChainFiles } from "../../../sandbox-bank/certificates/chains.ts";
import { readChallenge, transactionIdOf } from "../threeds.ts";
import type { World } from "../world.ts";

/** The client certificate and its key; undefined to present none. */
export type Identity = { readonly cert: string; readonly key: string } | undefined;

export type Posted = {
  readonly identity?: Identity;
  readonly method?: string;
  readonly contentType?: string;
  /** Replaces the path that the AReq named. */
  readonly path?: string;
};

export type ResultReply = {
  readonly status: number;
  readonly allow: string | undefined;
  readonly text: string;
};

/** Makes the result of a challenge as the bank would report it, with the given changes. */
export async function makeResult(
  { bank }: World,
  status: StatusReply,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { messageVersion, threeDSServerTransID, acsTransID } = readChallenge(status);
  const ares = await bank.waitForThreeDsMessage({
    type: "ARes",
    transactionId: threeDSServerTransID,
  });
  const how =
    messageVersion === "2.3.1" ? { authenticationMethod: ["02"] } : { authenticationType: "02" };
  return {
    messageType: "RReq",
    messageVersion,
    threeDSServerTransID,
    acsTransID,
    dsTransID: ares["dsTransID"],
    messageCategory: "01",
    interactionCounter: "01",
    ...how,
    ...passed,
    ...more,
  };
}

export const passed = {
  transStatus: "Y",
  eci: "05",
  authenticationValue: "AAECAwQFBgcICQoLDA0ODxAREhM=",
};
/** Fields that turn the result of a passed challenge into a failed one. */
export const notPassed = {
  transStatus: "N",
  transStatusReason: "01",
  eci: undefined,
  authenticationValue: undefined,
};

export async function directoryIdentity({ bank }: World): Promise<Identity> {
  const read = (name: string) => readFile(join(bank.tlsFolder, name), "utf8");
  return { cert: await read("directory.pem"), key: await read("directory.key") };
}

/** Makes the identity of a directory server with the same names and another authority. */
export async function strangeIdentity(): Promise<Identity> {
  const files = await makeChainFiles(directoryChain, Date.now());
  return { cert: files.get("directory.pem") ?? "", key: files.get("directory.key") ?? "" };
}

/** Posts a result to the URL in the order's AReq. Rejects if the handshake is refused. */
export async function postResult(
  world: World,
  status: StatusReply,
  body: object | string,
  { method = "POST", contentType = "application/json;charset=utf-8", ...posted }: Posted = {},
): Promise<ResultReply> {
  const areq = await world.bank.waitForThreeDsMessage({
    type: "AReq",
    transactionId: transactionIdOf(status),
  });
  const url = new URL(posted.path ?? "", String(areq["threeDSServerURL"]));
  const identity = "identity" in posted ? posted.identity : await directoryIdentity(world);
  const ca = await readFile(join(world.bank.tlsFolder, "directory-ca.pem"), "utf8");
  const { promise, resolve, reject } = Promise.withResolvers<ResultReply>();
  const headers = { "content-type": contentType };
  const asked = request(url, { method, headers, ca, agent: false, ...identity }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk) => chunks.push(chunk));
    response.once("error", reject);
    response.once("end", () => {
      const { statusCode = 0, headers: answered } = response;
      resolve({ status: statusCode, allow: answered.allow, text: String(Buffer.concat(chunks)) });
    });
  });
  asked.once("error", reject);
  asked.end(typeof body === "string" ? body : JSON.stringify(body));
  return promise;
}

/** Returns the type of the answer and the error that it names. */
export function kindOf({ status, text }: ResultReply): readonly [type: string, code: string] {
  assert.equal(status, 200, text);
  const { messageType, errorCode = "" } = JSON.parse(text);
  return [messageType, errorCode];
}
