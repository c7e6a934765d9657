/**
 * What every operation has in common, in the order of checks that the interface decisions give:
 * body readable, endpoint known, signed values readable, authentication, every other field, the
 * business. The first check that fails decides the answer.
 */
import { FormFault, type FormPair, parseForm } from "@tollgate/protocols/form";
import type { EntryPoint } from "../orders/merchant.ts";
import { Failure } from "../values/failure.ts";
import type { SerialNumber } from "../values/ids.ts";
import type { Services } from "../wiring/services.ts";
import { type AuthenticationDependencies, makeAuthentication } from "./authentication.ts";
import type { AccessDenied, SignedCall } from "./oauth.ts";
import type { Operation, Reply, Version } from "./operation.ts";
import type { TakeToken } from "./rate-limit.ts";
import { collect, readFields, type Sent } from "./read-request.ts";

export type Pipeline = (call: Call) => Promise<Outcome>;

export type Call = SignedCall & {
  readonly id: string;
  readonly form: "endpoint" | "group";
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  readonly serialNumber: SerialNumber;
};

/** The answer, and what the log and the kept requests must know besides. */
export type Outcome = {
  readonly answer: Reply | Failure | AccessDenied;
  readonly entryPoint?: EntryPoint;
  readonly authenticated: boolean;
  readonly faults?: readonly Failure[];
  readonly retryAfterSeconds?: number;
};

export type PipelineDependencies = AuthenticationDependencies & {
  readonly services: Services;
  readonly findEntryPoint: (form: Call["form"], id: string) => EntryPoint | undefined;
  readonly takeToken: TakeToken;
};

export function makePipeline(
  operation: Operation,
  dependencies: PipelineDependencies,
  version: Version,
): Pipeline {
  const authentication = makeAuthentication(version, operation, dependencies);

  return async (call) => {
    const body = readBody(call);
    if (body instanceof Failure) return refused(body);

    const entryPoint =
      dependencies.findEntryPoint(call.form, call.id) ??
      (operation.takesGroupIds === true
        ? dependencies.findEntryPoint("group", call.id)
        : undefined);
    if (entryPoint === undefined) return refused(new Failure("unknown_endpoint"));

    const { sent } = body;
    const asked = { ...body, call, entryPoint };
    const values: Record<string, unknown> = {};
    const [unreadable] = readFields(authentication.before, sent, entryPoint, values);
    if (unreadable !== undefined) return refused(unreadable, entryPoint);

    const mismatch = await authentication.check(asked);
    if (mismatch !== undefined) return refused(mismatch, entryPoint);

    const waitSeconds = dependencies.takeToken(operation.kept, entryPoint.merchant.id);
    if (waitSeconds > 0) {
      const answer = new Failure("too_many_requests");
      return { answer, entryPoint, authenticated: false, retryAfterSeconds: waitSeconds };
    }

    const context = {
      entryPoint,
      serialNumber: call.serialNumber,
      receivedAt: dependencies.clock.now(),
      sent,
      known: authentication.known,
      services: dependencies.services,
    };
    const faults = authentication.readRest(asked, values);
    const broken = faults.length > 0 ? faults : operation.rules(values, context);
    const [first] = broken;
    if (first !== undefined) {
      return { answer: first, entryPoint, authenticated: true, faults: broken };
    }
    const answer = await operation.handle(values, context);
    return { answer, entryPoint, authenticated: true };
  };
}

type Body = { readonly pairs: readonly FormPair[]; readonly sent: Sent };

function readBody({ contentType, body }: Call): Body | Failure {
  if (contentType !== undefined && !formType.test(contentType)) {
    return new Failure("malformed_request", "the content type must be that of a form");
  }
  const form = parseForm(body);
  if (form instanceof FormFault) return new Failure("malformed_request", formFaults[form.reason]);
  const sent = collect(form.pairs);
  return sent instanceof Failure ? sent : { pairs: form.pairs, sent };
}

const formType = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

const formFaults: Readonly<Record<FormFault["reason"], string>> = {
  malformed_percent: "malformed percent encoding",
  not_utf8: "not UTF-8",
};

function refused(answer: Failure | AccessDenied, entryPoint?: EntryPoint): Outcome {
  return { answer, authenticated: false, ...(entryPoint === undefined ? {} : { entryPoint }) };
}
