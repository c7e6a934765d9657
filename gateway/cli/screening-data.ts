/** The data that rules about countries need, as commands see it. */
import { openIpCountries } from "../screening/ip-countries.ts";
import type { ConfiguredRule } from "../screening/rule.ts";
import { findRule } from "../screening/rules/index.ts";
import { makeIssuerStore } from "../storage/issuer-ranges.ts";
import { messageOf, Problem } from "../values/problem.ts";
import type { CheckResult } from "./checks/check.ts";
import type { Session } from "./command.ts";
import { loadStaging } from "./environment.ts";
import { readConfiguration } from "./installation.ts";

/** As a node would open it. */
export async function openCountries(session: Session) {
  const staging = await loadStaging(session.config);
  return openIpCountries({
    file: session.config.ipCountryFile,
    builtIn: staging?.makeStagingParts(session).networks ?? [],
    onError: (error) => process.stderr.write(`The IP country file: ${messageOf(error)}.\n`),
  });
}

/** What a rule lacks; nothing when it has its data. */
export async function makeFindMissing(session: Session) {
  const countries = await openCountries(session);
  const { ranges } = await makeIssuerStore(session.database).count();
  const hasIssuers = ranges > 0 || session.config.environment === "staging";
  return ({ kind, parameters }: Pick<ConfiguredRule, "kind" | "parameters">) => {
    const judge = findRule(kind)?.bind(parameters);
    if (judge === undefined || judge instanceof Problem) return "not usable";
    if (judge.needs?.includes("ip") && !countries.hasData) {
      return "no data: set GW_IP_COUNTRY_FILE";
    }
    if (judge.needs?.includes("issuer") && !hasIssuers) return "no data: see gw bin load";
    return undefined;
  };
}

/** For `gw doctor`: the file, and rules that are on and lack their data. */
export async function checkScreening(session: Session): Promise<CheckResult> {
  const { ipCountryFile: file } = session.config;
  const what = `IP country file: ${file || "none"}`;
  const { problem } = await openCountries(session);
  if (problem !== undefined) {
    return { what, troubles: [`It cannot be used: ${problem}. Load another one.`] };
  }
  const findMissing = await makeFindMissing(session);
  const { screeningRules } = await readConfiguration(session);
  const warnings = screeningRules.flatMap((rule) => {
    const missing = rule.enabled ? findMissing(rule) : undefined;
    return missing === undefined ? [] : [`The rule ${rule.id} does not fire, ${missing}.`];
  });
  return { what, warnings };
}
