/**
 * The directory server and the issuers' access control servers, written from the specifications.
 * The seed chooses their answers and decisions. Each authentication request begins an
 * authentication, even when a node repeats it. Their decisions about each payment are kept for the
 * laws.
 */
import { randomUUID } from "node:crypto";
import {
  type Emv3dsMessage,
  encodeFormValue,
  MessageFault,
  readMessage,
  textOf,
  writeMessage,
} from "@tollgate/protocols/emv3ds";
import {
  packPa,
  readXml,
  signPaRes,
  ThreeDsFault,
  unpackPa,
  writeXml,
} from "@tollgate/protocols/threeds102";
import type { Directory } from "../../gateway/threeds/directory-client.ts";
import { asInstant, calendar } from "../../gateway/values/time.ts";
import { signer, trust } from "../../protocols/threeds102/samples.ts";
import { directoryName } from "./cards.ts";
import { startOfTime } from "./platform.ts";
import type { Random } from "./random.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type Options = {
  readonly time: VirtualTime;
  readonly random: Random;
  /** Posts a result to some node. Returns its answer, or undefined. */
  readonly postResult: (text: string) => Promise<string | undefined>;
};

type Challenge = {
  readonly ids: Emv3dsMessage;
  readonly category: string;
  status?: "Y" | "N" | "U";
};

export type DirectoryHost = ReturnType<typeof makeDirectoryHost>;

const options = { allowHttp: true };
const settings = {
  url: "https://ds.example/2",
  url102: "https://ds.example/1",
  certificateFile: "",
  keyFile: "",
  authorityFile: "",
  referenceNumber: "TOLLGATE",
  operatorId: "TOLLGATE",
  requestorId: "acme",
  requestorName: "Acme",
  requestorUrl: "https://acme.example",
};

export function makeDirectoryHost({ time, random, postResult }: Options) {
  const process = new SimulatedProcess("directory");
  const challenges = new Map<string, Challenge>();
  const accounts = new Map<string, string>();
  /** Ids of authentications (xids in 1.0.2) that an issuer has approved. */
  const proven = new Set<string>();
  const manners = { unruly: 0 };
  const certificates = { cert: "", key: "", ca: "", paresRoots: trust.roots };
  const server = { name: directoryName, networks: [], settings };
  const directory: Directory = { server, certificates, send, fetch: async () => undefined };

  return { directory, manners, proven, passChallenge, answerPaReq };

  /** Returns the answer to a request, or undefined if the request or the answer is lost or late. */
  function send(url: string, { body, timeoutMs }: Parameters<Directory["send"]>[1]) {
    const owner = time.current();
    return new Promise<string | undefined>((resolve) => {
      const cancel = time.after(timeoutMs, owner, () => resolve(undefined));
      const wrong = random.chance(manners.unruly) ? random.pick(faults) : undefined;
      const [thereMs, backMs] = [random.skewed(1, 500), random.skewed(5, wrong ? 20_000 : 3_000)];
      if (wrong === "lose") return;
      time.after(thereMs, process, () => {
        const answer = url === settings.url ? answerAReq(body) : answerVeReq(body);
        if (wrong === "lose the answer") return;
        time.after(backMs, owner, () => {
          cancel();
          resolve(wrong === "garble" ? `${answer?.slice(1)}` : answer);
        });
      });
    });
  }

  function answerAReq(body: string): string | undefined {
    const areq = readMessage(body, { types: ["AReq", "Erro"], ...options });
    if (areq instanceof MessageFault) throw new Error(`an AReq is invalid: ${areq.detail}`);
    if (areq.messageType === "Erro") return "";
    const ids: Emv3dsMessage = {
      messageType: "ARes",
      messageVersion: areq.messageVersion,
      dsTransID: randomUUID(),
      threeDSServerTransID: areq["threeDSServerTransID"],
      acsTransID: randomUUID(),
    };
    const isDemanded = areq["threeDSRequestorChallengeInd"] !== undefined;
    const status = random.pick(isDemanded ? demandedAnswers : answers);
    const category = textOf(areq, "messageCategory") ?? "";
    if (status === "C") challenges.set(String(ids["acsTransID"]), { ids, category });
    const own = { acsReferenceNumber: "ACS", acsOperatorID: "ACS", dsReferenceNumber: "DS" };
    const challenge = {
      acsURL: "https://acs.example/challenge",
      acsChallengeMandated: "Y",
      ...methodOf(areq.messageVersion),
    };
    const more = status === "C" ? { transStatus: "C", ...challenge } : outcome(ids, status);
    return writeMessage({ ...ids, ...own, ...more }, options);
  }

  function outcome(ids: Emv3dsMessage, transStatus: string): object {
    if (transStatus !== "Y" && transStatus !== "A") return { transStatus, transStatusReason: "01" };
    proven.add(String(ids["threeDSServerTransID"]));
    return { transStatus, eci: transStatus === "Y" ? "05" : "06", authenticationValue: proof() };
  }

  function proof(): string {
    const bytes = Buffer.alloc(20);
    random.fill(bytes);
    return bytes.toString("base64");
  }

  /**
   * Answers a challenge for the cardholder. It is decided once, and its result goes to a node by
   * itself. Returns the CRes that the browser posts.
   */
  function passChallenge(acsTransID: string): string | undefined {
    const challenge = challenges.get(acsTransID);
    if (challenge === undefined) return undefined;
    const { ids } = challenge;
    if (challenge.status === undefined) {
      challenge.status = random.pick(["Y", "Y", "Y", "Y", "N", "U"] as const);
      void tellResult(challenge, challenge.status);
    }
    const { messageVersion, threeDSServerTransID } = ids;
    const transStatus = challenge.status === "Y" ? "Y" : "N";
    const cres = { messageType: "CRes", messageVersion, threeDSServerTransID, acsTransID } as const;
    return encodeFormValue({ ...cres, challengeCompletionInd: "Y", transStatus });
  }

  async function tellResult({ ids, category }: Challenge, status: string): Promise<void> {
    const { messageVersion } = ids;
    const rreq: Emv3dsMessage = {
      ...ids,
      messageType: "RReq",
      messageCategory: category,
      interactionCounter: "01",
      ...(status === "U" ? {} : methodOf(messageVersion)),
      ...outcome(ids, status),
    };
    const text = writeMessage(rreq, options);
    if (random.chance(0.03 + manners.unruly / 4)) return;
    await pause(random.chance(0.2) ? random.between(0, 90_000) : random.skewed(1, 2_000));
    if (random.chance(0.1)) void postResult(text);
    // A result that was not accepted is sent once more.
    if ((await postResult(text)) === undefined) await postResult(text);
  }

  function answerVeReq(body: string): string | undefined {
    const question = readXml("VEReq", body);
    if (question instanceof ThreeDsFault) throw new Error(`a VEReq is invalid: ${question.reason}`);
    const { messageId, pan } = question;
    if (random.chance(0.1))
      return writeXml("VERes", { messageId, ch: { enrolled: "N" }, protocols: [] });
    const acctId = `account-${accounts.size}`;
    accounts.set(acctId, pan);
    const url = "https://acs.example/pareq";
    const ch = { enrolled: "Y", acctId } as const;
    return writeXml("VERes", { messageId, ch, url, protocols: ["ThreeDSecure"] });
  }

  /** Returns the signed PARes that the browser posts. */
  function answerPaReq(packed: string): string {
    const xml = unpackPa(packed);
    const pareq = xml instanceof ThreeDsFault ? xml : readXml("PAReq", xml);
    if (pareq instanceof ThreeDsFault) throw new Error(`a PAReq is invalid: ${pareq.reason}`);
    const { xid, date, purchAmount, currency, exponent } = pareq.purchase;
    const { acqBin, merId } = pareq.merchant;
    const pan = accounts.get(pareq.ch.acctId) ?? "";
    const status = random.pick(["Y", "Y", "Y", "A", "N", "U"] as const);
    const isProved = status === "Y" || status === "A";
    if (isProved) proven.add(xid);
    const { year, month, day, iso } = calendar(asInstant(startOfTime + Math.floor(time.now())));
    const signedAt = `${year}${month}${day} ${iso.slice(11, 19)}`;
    const proved = isProved ? { cavv: proof(), eci: "05", cavvAlgorithm: "2" } : {};
    const paRes = {
      messageId: pareq.messageId,
      id: "PARes-1",
      merchant: { acqBin, merId },
      purchase: { xid, date, purchAmount, currency, exponent },
      pan: pan.slice(-4).padStart(pan.length, "0"),
      tx: { time: signedAt, status, ...proved },
    };
    return packPa(signPaRes(paRes, signer));
  }

  function pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void time.after(durationMs, process, resolve));
  }
}

const faults = ["lose", "lose the answer", "garble", "be late"] as const;
const answers = [..."YYYYACCCCCNRU"] as const;
const demandedAnswers = [..."CCCCN"] as const;

function methodOf(version: string): object {
  return version === "2.3.1" ? { authenticationMethod: ["02"] } : { authenticationType: "02" };
}
