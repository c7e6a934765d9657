/** Tables of endpoints and of groups. The pages of a merchant and of a gate show them. */
import { ActionButton } from "../actions/action-button.tsx";
import { OnOff } from "../design/details.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { useUser } from "../shell/session.ts";
import { type MerchantDetail, membersOf, termsOf } from "./terms.ts";

type EndpointLine = MerchantDetail["endpoints"][number];

type EndpointTableProps = {
  readonly endpoints: readonly EndpointLine[];
  readonly none: string;
  readonly withMerchant?: boolean;
};

export function EndpointTable({ endpoints, none, withMerchant = false }: EndpointTableProps) {
  const messages = useMessages();
  const withGates = endpoints.some(({ gates }) => gates.length > 0);
  return (
    <Table
      rows={endpoints}
      none={none}
      keyOf={({ id }) => id}
      opens={({ id }) => `endpoints/${id}`}
      columns={[
        [messages.fields.name, ({ id, name }) => <Name name={name} to={`endpoints/${id}`} />],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.id, ({ id }) => id, "mono"],
        withMerchant && [messages.merchant, ({ merchant }) => merchant, "quiet"],
        [messages.currency, ({ currency }) => currency],
        ["3-D Secure", ({ threeds }) => wordIn(messages.choices, threeds), "quiet"],
        withGates && [messages.gates, gatesOf, "wide quiet"],
      ]}
    />
  );
}

function gatesOf({ gates }: EndpointLine): string {
  return gates.map(({ name }) => name).join(", ");
}

export function GroupTable({ groups }: Pick<MerchantDetail, "groups">) {
  const messages = useMessages();
  const { may } = useUser();
  return (
    <Table
      rows={groups}
      none={messages.noGroups}
      keyOf={({ id }) => id}
      columns={[
        [messages.fields.name, ({ name }) => <b>{name}</b>],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.id, ({ id }) => id, "mono"],
        [messages.fields.endpoints, ({ endpoints }) => membersOf(endpoints), "wide"],
      ]}
      actions={
        may("change_merchants") &&
        (({ id, enabled, endpoints }) => (
          <ActionButton
            action="group set"
            values={{ group: id }}
            known={termsOf(enabled, endpoints)}
          />
        ))
      }
    />
  );
}
