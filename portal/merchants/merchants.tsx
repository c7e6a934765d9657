/** The merchants; a merchant's own user comes to that one at once. */
import { TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { CommandButton } from "../commands/command-form.tsx";
import { Head, Loaded, OnOff } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type OutputOf, type User } from "../shell/call.ts";
import { changeQuery, go, Link, usePlace } from "../shell/url.tsx";
import { MerchantPage } from "./merchant.tsx";

type MerchantLine = OutputOf<"GET /merchants">["merchants"][number];

export function Merchants({ user }: { readonly user: User }) {
  return user.merchant === undefined ? (
    <MerchantList user={user} />
  ) : (
    <MerchantPage user={user} login={user.merchant} />
  );
}

function MerchantList({ user }: { readonly user: User }) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const [search, after] = [query.get("search") ?? "", query.get("after") ?? ""];
  const found = useQuery({
    queryKey: ["merchants", search, after],
    queryFn: ({ signal }) =>
      call("GET /merchants", { ...(search && { search }), ...(after && { after }) }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="screen">
      <Head title={messages.merchants}>
        {user.rights.includes("change_merchants") && (
          <CommandButton command="merchant create" label={messages.newMerchant} isMain />
        )}
      </Head>
      <TextInput
        role="searchbox"
        aria-label={messages.searchMerchants}
        placeholder={messages.searchMerchants}
        leftSection={<Icon name="search" />}
        value={search}
        onChange={({ currentTarget }) =>
          changeQuery({ search: currentTarget.value, after: "" }, { replaces: true })
        }
      />
      <Loaded query={found}>
        {({ merchants, next }) => {
          if (merchants.length > 0) {
            return (
              <>
                <MerchantTable merchants={merchants} />
                <Pages text="" next={next} isFirst={after === ""} isByName />
              </>
            );
          }
          return search === "" ? (
            <Nothing title={messages.noMerchants} hint={messages.noMerchantsHint} />
          ) : (
            <Nothing title={messages.noMerchantFound} hint={messages.noMerchantFoundHint} />
          );
        }}
      </Loaded>
    </div>
  );
}

function MerchantTable({ merchants }: { readonly merchants: readonly MerchantLine[] }) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked">
      <thead>
        <tr>
          <th>{messages.login}</th>
          <th>{messages.status}</th>
          <th>{messages.currencies}</th>
          <th className="number">{messages.endpoints}</th>
          <th>{messages.cell}</th>
        </tr>
      </thead>
      <tbody>
        {merchants.map(({ login, name, enabled, currencies, endpoints, cell }) => (
          <tr key={login} onClick={() => go(`merchants/${login}`)}>
            <td>
              <Link to={`merchants/${login}`}>
                <b>{login}</b>
              </Link>{" "}
              {name !== login && <small>{name}</small>}
            </td>
            <td>
              <OnOff isOn={enabled} />
            </td>
            <td className="wide quiet" data-name={messages.currencies}>
              {currencies.join(", ")}
            </td>
            <td className="number plain" data-name={messages.endpoints}>
              {endpoints}
            </td>
            <td className="quiet" data-name={messages.cell}>
              {cell}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
