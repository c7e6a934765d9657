/** The role of a user, and the merchant where the role is one of a merchant. */
import { NativeSelect } from "@mantine/core";
import { useMessages } from "../language/language.tsx";
import { useKnown } from "../orders/order-query.ts";
import { useUser } from "../shell/session.ts";
import { type Chosen, isMerchants, type Listed, type Role, rolesToGive } from "./roles.ts";

type RoleFieldsProps = {
  /** The user whose role is changed; absent for a new one. */
  readonly changed?: Listed;
  readonly chosen: Chosen;
  readonly choose: (chosen: Chosen) => void;
};

export function RoleFields({ changed, chosen, choose }: RoleFieldsProps) {
  const messages = useMessages();
  const user = useUser();
  const choosesMerchant = user.isOperator && changed === undefined;
  const { merchants = [] } = useKnown(choosesMerchant).data ?? {};
  // The table of hints has every role that a person can have.
  const offered = rolesToGive(Object.keys(messages.roleHints) as Role[], user, changed);
  return (
    <>
      <NativeSelect
        label={messages.role}
        description={messages.roleHints[chosen.role]}
        value={chosen.role}
        data={offered.map((role) => ({ value: role, label: messages.roles[role] }))}
        onChange={({ currentTarget }) => choose({ ...chosen, role: currentTarget.value as Role })}
      />
      {choosesMerchant && isMerchants(chosen.role) && (
        <NativeSelect
          label={messages.merchant}
          required
          withAsterisk={false}
          value={chosen.merchant}
          data={[
            { value: "", label: "" },
            ...merchants.map(({ login }) => ({ value: login, label: login })),
          ]}
          onChange={({ currentTarget }) => choose({ ...chosen, merchant: currentTarget.value })}
        />
      )}
    </>
  );
}
