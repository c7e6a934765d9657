/**
 * The bank's 3-D Secure side put together: the directory server behind its own door, and the ACS
 * whose pages are served on the bank's HTTP port.
 */
import { join } from "node:path";
import { authenticate, type Challenge } from "./access-control-server/authentication.ts";
import { type Account, enrol } from "./access-control-server/pareq.ts";
import { acsPaths, makeAcsRoutes } from "./access-control-server/routes.ts";
import { Transactions } from "./access-control-server/transactions.ts";
import type { BankClock } from "./bank-clock.ts";
import { openIdentities } from "./certificates/identities.ts";
import { DirectoryServer } from "./directory-server/directory-server.ts";
import { answerEmv } from "./directory-server/emv3ds-desk.ts";
import { ResultMessenger } from "./directory-server/result-messenger.ts";
import { answer102 } from "./directory-server/threeds102-desk.ts";
import type { Reply } from "./http-exchange.ts";
import type { AuthenticationValues } from "./issuer/authentication-values.ts";
import type { Switchboard } from "./switches.ts";
import { ThreeDsMessages } from "./threeds-messages.ts";

export type ThreeDsOptions = {
  readonly dataDir: string;
  readonly host: string;
  readonly clock: BankClock;
  readonly switches: Switchboard;
  readonly authenticationValues: AuthenticationValues;
  /** Where browsers reach the ACS; known when the bank's HTTP server listens. */
  readonly acsUrl: () => string;
  readonly log: (line: string) => void;
};

export type ThreeDsSide = {
  readonly directory: DirectoryServer;
  readonly messages: ThreeDsMessages;
  readonly routes: ReadonlyMap<string, Reply>;
  readonly tlsFolder: string;
  close(): Promise<void>;
};

export async function makeThreeDsSide(options: ThreeDsOptions): Promise<ThreeDsSide> {
  const { authenticationValues, acsUrl, clock, host, log, switches } = options;
  const tlsFolder = join(options.dataDir, "bank", "tls");
  const identities = await openIdentities(tlsFolder, clock.now().ms);
  const messages = new ThreeDsMessages(clock);
  const messenger = new ResultMessenger({ identity: identities.directory, messages, log });
  const timers = new Timers();

  const challenges = new Transactions<Challenge>(clock);
  const accounts = new Transactions<Account>(clock);
  const acs = {
    authenticationValues,
    challenges,
    challengeUrl: () => acsUrl() + acsPaths.challenge,
  };
  const paReqDesk = { accounts, authenticationValues, clock, identity: identities.paRes, messages };
  const challengeDesk = {
    challenges,
    messages,
    deliverResult: messenger.deliver.bind(messenger),
    later: timers.start.bind(timers),
  };

  const emvDesk = {
    messages,
    authenticate: (areq: Parameters<typeof authenticate>[0]) => authenticate(areq, acs),
    methodUrl: () => acsUrl() + acsPaths.method,
    ownUrl: () => `https://${host}:${directory.port}/emv3ds`,
  };
  const desk102 = {
    messages,
    enrol: (pan: string) => enrol(pan, paReqDesk),
    acsUrl: () => acsUrl() + acsPaths.paReq,
  };
  const directory = new DirectoryServer({
    identity: identities.directory,
    isDown: () => switches.current.directoryDown,
    answerEmv: (text) => answerEmv(text, emvDesk),
    answer102: (text) => answer102(text, desk102),
    log,
  });

  async function close(): Promise<void> {
    timers.stop();
    messenger.close();
    await directory.close();
    messages.close();
  }

  const routes = makeAcsRoutes(challengeDesk, paReqDesk);
  return { directory, messages, routes, tlsFolder, close };
}

/** What is to be done later, forgotten all at once. */
class Timers {
  readonly #running = new Set<NodeJS.Timeout>();

  start(afterMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      act();
    }, afterMs);
    this.#running.add(timer);
  }

  stop(): void {
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
