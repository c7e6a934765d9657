/** The merchants; a merchant's own user comes to that one at once. */
import { TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Loaded, OnOff } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type OutputOf, type User } from "../shell/call.ts";
import { changeQuery, usePlace } from "../shell/url.tsx";
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
          <ActionButton action="merchant create" label={messages.newMerchant} isMain />
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
    <StackedTable
      rows={merchants}
      keyOf={({ login }) => login}
      opens={({ login }) => `merchants/${login}`}
      columns={[
        [
          messages.login,
          ({ login, name }) => (
            <Name name={login} to={`merchants/${login}`} note={name !== login && name} />
          ),
        ],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.currencies, ({ currencies }) => currencies.join(", "), "wide quiet"],
        [messages.endpoints, ({ endpoints }) => endpoints, "number plain"],
        [messages.cell, ({ cell }) => cell, "quiet"],
      ]}
    />
  );
}
