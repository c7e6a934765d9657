/** The list of merchants. A merchant's own user sees the page of that merchant instead. */
import { ActionButton } from "../actions/action-button.tsx";
import { Head, OnOff } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { makeFilters, readListQuery } from "../orders/order-query.ts";
import { Search } from "../orders/search.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import { MerchantPage } from "./merchant.tsx";

const filters = makeFilters(["search"]);

export function Merchants() {
  const { merchant } = useUser();
  return merchant === undefined ? <MerchantList /> : <MerchantPage login={merchant} />;
}

function MerchantList() {
  const messages = useMessages();
  const { search, after } = readListQuery(useAddress().query, []);
  const input = { ...(search && { search }), ...(after && { after }) };
  const found = useAnswer("GET /merchants", input, { keepsBefore: true });
  return (
    <div className="screen stack">
      <Head title={messages.merchants}>
        <ActionButton action="merchant create" isMain />
      </Head>
      <Search label={messages.searchMerchants} />
      <List
        found={found}
        rowsOf={({ merchants }) => merchants}
        none={[messages.noMerchants, messages.noMerchantsHint]}
        noMatch={[messages.noMerchantFound, messages.noMerchantFoundHint]}
        filters={filters}
        isByName
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
          [messages.fields.currencies, ({ currencies }) => currencies.join(", "), "wide quiet"],
          [messages.fields.endpoints, ({ endpoints }) => endpoints, "number plain"],
          [messages.fields.cell, ({ cell }) => cell, "quiet"],
        ]}
      />
    </div>
  );
}
