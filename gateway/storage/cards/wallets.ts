/**
 * The stored data of wallets: merchants' keys; used tokens, so that each token pays only once; and
 * the files below `/.well-known/` by which a wallet checks that a domain belongs to the
 * installation. Nodes read these files from the database at each request, because wallets seldom
 * ask.
 */
import { createPrivateKey, randomUUID } from "node:crypto";
import type { MerchantId } from "../../values/ids.ts";
import type { Secret } from "../../values/secret.ts";
import type { Clock } from "../../values/time.ts";
import type { Vault } from "../../vault/vault.ts";
import type { UsedToken } from "../../wallets/open-wallet.ts";
import type { KeyUse, ReadKeys, WalletKey } from "../../wallets/wallet-trust.ts";
import { assertHomeCell } from "../cells/cells.ts";
import { notifyNodes } from "../configuration/configuration.ts";
import type { Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";
import {
  bytesArray,
  type GatherOptions,
  makeGather,
  makeSweep,
  plainArray,
  textArray,
} from "../server/gather.ts";

export async function loadWalletKeys(query: Query, open: Vault["openSecret"]): Promise<ReadKeys> {
  const rows = await query<KeyRow>(
    `select id, merchant_id as "merchantId", wallet, sealed, certificate
     from vault.wallet_keys where removed_at is null order by id desc`,
  );
  const keys: WalletKey[] = [];
  const unreadable: { id: string; cause: string }[] = [];
  for (const row of rows) {
    try {
      const { sealed, certificate, ...key } = row;
      const pem = open(sealed, walletKeyContext(key.merchantId, key.wallet)).reveal();
      const privateKey = createPrivateKey(pem);
      keys.push({ ...key, privateKey, certificate: certificate ?? undefined });
    } catch (error) {
      unreadable.push({ id: row.id, cause: String(error) });
    }
  }
  return { keys, unreadable };
}

type KeyRow = Pick<WalletKey, "id" | "merchantId" | "wallet"> & {
  readonly sealed: Buffer;
  readonly certificate: string | null;
};

export function walletKeyContext(merchantId: string, wallet: string): string {
  return `wallet-key/${merchantId}/${wallet}`;
}

export type ListedWalletKey = {
  readonly id: string;
  readonly merchantId: MerchantId;
  readonly wallet: KeyUse;
  /** The public key as SPKI in PEM. */
  readonly publicKey: string;
  readonly certificate: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
};

type NewWalletKey = Pick<ListedWalletKey, "merchantId" | "wallet" | "publicKey"> & {
  readonly privateKey: Secret<string>;
};

export function listWalletKeys(query: Query, merchantId?: MerchantId) {
  return query<ListedWalletKey>(
    `select id, merchant_id as "merchantId", wallet, public_key as "publicKey", certificate,
       to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as "createdAt",
       to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD') as "expiresAt"
     from vault.wallet_keys
     where removed_at is null and ($1::bigint is null or merchant_id = $1) order by id`,
    [merchantId ?? null],
  );
}

export function makeWalletKeyAdministration(
  audit: Audit,
  query: Query,
  sealSecret: Vault["sealSecret"],
) {
  return {
    async add({ privateKey, ...key }: NewWalletKey): Promise<string> {
      const { merchantId, wallet, publicKey } = key;
      const sealed = sealSecret(privateKey, walletKeyContext(merchantId, wallet));
      return audit.change(async (inside, write) => {
        const [row] = await inside<{ id: string }>(
          `insert into vault.wallet_keys (merchant_id, wallet, sealed, public_key)
           values ($1, $2, $3, $4) returning id`,
          [merchantId, wallet, sealed, publicKey],
        );
        const { id = "" } = row ?? {};
        const after = { merchantId, wallet, publicKey };
        await write({ action: "wallet key make", subject: `wallet key ${id}`, after });
        await notifyNodes(inside);
        return id;
      });
    },

    list: () => listWalletKeys(query),

    async certify(id: string, certificate: string, expiresAt: number): Promise<void> {
      await audit.change(async (inside, write) => {
        await inside(
          `update vault.wallet_keys set certificate = $2,
             expires_at = to_timestamp($3::float8 / 1000) where id = $1`,
          [id, certificate, expiresAt],
        );
        const after = { certificate };
        await write({ action: "wallet key certify", subject: `wallet key ${id}`, after });
        await notifyNodes(inside);
      });
    },

    /** The row's old version keeps the private key until `vacuumWalletKeys` has run. */
    async remove(id: string): Promise<boolean> {
      return audit.change(async (inside, write) => {
        const rows = await inside(
          `update vault.wallet_keys set removed_at = now(), sealed = ''
           where id = $1 and removed_at is null returning id`,
          [id],
        );
        if (rows.length === 0) return false;
        await write({ action: "wallet key remove", subject: `wallet key ${id}` });
        await notifyNodes(inside);
        return true;
      });
    },
  };
}

/** Frees the space of old row versions, which contain the removed private keys. */
export async function vacuumWalletKeys(query: Query): Promise<void> {
  await query("vacuum vault.wallet_keys");
}

const deleteEveryMs = 60_000;

/** Returns false if another request has used the token. Repeats of one request may all use it. */
export function makeClaimToken(
  query: Query,
  clock: Clock,
  options: GatherOptions = {},
): (token: UsedToken) => Promise<boolean> {
  const deleteOld = makeSweep(clock, deleteEveryMs, (now) =>
    query(
      "delete from wallet_messages where remember_until < to_timestamp($1::float8 / 1000)",
      [now],
      "forget_wallet_messages",
    ),
  );

  const take = makeGather(async (tokens: readonly ClaimedToken[]) => {
    const claims = claimsOf(tokens);
    const rows = await query<TokenRow>(
      claimStatement,
      [
        plainArray(claims.map(({ merchantId }) => merchantId)),
        textArray(claims.map(({ wallet }) => wallet)),
        textArray(claims.map(({ id }) => id)),
        bytesArray(claims.map(({ digest }) => digest)),
        plainArray(claims.map(({ keepUntil }) => keepUntil)),
        plainArray(claims.map(({ holders }) => holders)),
        plainArray(claims.map(({ claim }) => claim)),
      ],
      "take_wallet_messages",
    );
    deleteOld();
    const digests = new Map(
      rows.map((row) => [`${row.merchant_id}/${row.wallet}/${row.message_id}`, row.digest]),
    );
    return tokens.map((token) =>
      token.replayIds.every(({ id }) => digests.get(keyOf(token, id))?.equals(token.digest)),
    );
  }, options);
  return (token) => take({ ...token, claim: randomUUID() });
}

/** A token with the random id of its claim, by which a repeated statement recognises the claim. */
type ClaimedToken = UsedToken & { readonly claim: string };

type TokenRow = Record<"merchant_id" | "wallet" | "message_id", string> & { digest: Buffer };

type Claim = Omit<ClaimedToken, "replayIds"> & UsedToken["replayIds"][number] & { holders: number };

/**
 * Merges equal tokens of a batch, because a statement can write a row only once. The first request
 * with a token is written, and each repeat of this request adds one to `holders`.
 */
function claimsOf(tokens: readonly ClaimedToken[]): readonly Claim[] {
  const claims = new Map<string, Claim>();
  for (const { replayIds, ...token } of tokens) {
    for (const replayId of replayIds) {
      const key = keyOf(token, replayId.id);
      const first = claims.get(key);
      if (first === undefined) claims.set(key, { ...token, ...replayId, holders: 1 });
      else if (Buffer.compare(first.digest, token.digest) === 0) first.holders += 1;
    }
  }
  return [...claims.values()];
}

function keyOf({ merchantId, wallet }: Pick<UsedToken, "merchantId" | "wallet">, id: string) {
  return `${merchantId}/${wallet}/${id}`;
}

/**
 * Claims tokens, and returns for each the digest of the request that holds it. Another request can
 * claim a token without holders. A statement that is sent again after a lost answer counts once, or
 * twice if a repeat of the request came in between. The token then stays claimed, which is safe.
 */
const claimStatement = `
insert into wallet_messages as known
  (merchant_id, wallet, message_id, digest, remember_until, holders, claim)
select merchant_id, wallet, message_id, digest, to_timestamp(remember_until / 1000), holders, claim
from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::float8[], $6::int[], $7::uuid[])
  as taken (merchant_id, wallet, message_id, digest, remember_until, holders, claim)
where ${assertHomeCell("= any($1::bigint[])")}
order by merchant_id, wallet, message_id
on conflict (merchant_id, wallet, message_id) do update set
  digest = case when known.holders = 0 then excluded.digest else known.digest end,
  remember_until =
    case when known.holders = 0 then excluded.remember_until else known.remember_until end,
  holders = known.holders + case when known.claim is not distinct from excluded.claim then 0
    when known.holders = 0 or known.digest = excluded.digest then excluded.holders else 0 end,
  claim = case when known.holders = 0 or known.digest = excluded.digest
    then excluded.claim else known.claim end
returning merchant_id, wallet, message_id, digest`;

/** Another request can claim the token when all requests that hold it have released it. */
export async function releaseToken(query: Query, token: UsedToken): Promise<void> {
  const { merchantId, wallet, replayIds, digest } = token;
  await query(
    `update wallet_messages set holders = holders - 1
       where merchant_id = $1 and wallet = $2 and message_id = any($3) and digest = $4
         and holders > 0 and ${assertHomeCell("= $1")}`,
    [merchantId, wallet, replayIds.map(({ id }) => id), digest],
  );
}

export async function findWellKnownFile(query: Query, name: string): Promise<string | undefined> {
  const [row] = await query<{ readonly content: string }>(
    "select content from well_known_files where name = $1",
    [name],
    "find_well_known_file",
  );
  return row?.content;
}

export function listWellKnownFiles(
  query: Query,
): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  return query("select name, octet_length(content) as bytes from well_known_files order by name");
}

export async function putWellKnownFile(audit: Audit, name: string, content: string): Promise<void> {
  await audit.change(async (inside, write) => {
    await inside(
      `insert into well_known_files (name, content) values ($1, $2)
       on conflict (name) do update set content = excluded.content`,
      [name, content],
    );
    const subject = `well-known file ${name}`;
    await write({ action: "wallet domain-file set", subject, after: { content } });
  });
}

export async function removeWellKnownFile(audit: Audit, name: string): Promise<boolean> {
  return audit.change(async (inside, write) => {
    const removed = await inside<{ readonly content: string }>(
      "delete from well_known_files where name = $1 returning content",
      [name],
    );
    const [before] = removed;
    const subject = `well-known file ${name}`;
    if (before) await write({ action: "wallet domain-file remove", subject, before });
    return before !== undefined;
  });
}
