/** The directory servers of 3-D Secure. */
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { LoadedPart, Mark, Section } from "../design/details.tsx";
import { StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { addressOf, filesOf } from "./gate-lines.ts";

export function Directories({ mayChange }: { readonly mayChange: boolean }) {
  const messages = useConfigurationMessages();
  const found = useRows("directory list");
  return (
    <Section
      title={messages.directories}
      action={mayChange && <ActionButton action="directory put" label={messages.newDirectory} />}
    >
      <LoadedPart query={found}>
        {(servers) =>
          servers.length === 0 ? (
            <p className="quiet">{messages.noDirectories}</p>
          ) : (
            <ServerTable servers={servers} mayChange={mayChange} />
          )
        }
      </LoadedPart>
    </Section>
  );
}

type TableProps = { readonly servers: readonly Row[]; readonly mayChange: boolean };

function ServerTable({ servers, mayChange }: TableProps) {
  const messages = useConfigurationMessages();
  return (
    <StackedTable
      rows={servers}
      keyOf={({ name = "" }) => name}
      columns={[
        [messages.name, ({ name }) => <b>{name}</b>],
        [messages.files, (server) => <Files server={server} />],
        [messages.network, ({ networks }) => networks, "quiet"],
        [messages.cardRanges, ({ ranges }) => ranges, "number plain"],
        [messages.address, addressOf, "wide quiet"],
      ]}
      actions={
        mayChange &&
        (({ name = "" }) => (
          <>
            <ChangeServer name={name} />
            <ActionButton action="directory refresh" label={messages.refresh} values={{ name }} />
            <ActionButton
              action="directory remove"
              label={messages.remove}
              title={messages.named.remove(`${messages.things.directory} ${name}`)}
              isDangerous
              values={{ name }}
            />
          </>
        ))
      }
    />
  );
}

function Files({ server }: { readonly server: Row }) {
  const [colour, text] = filesOf(server, useConfigurationMessages().good);
  return <Mark kind={colour}>{text}</Mark>;
}

/** The form begins with the settings as they are. */
function ChangeServer({ name }: { readonly name: string }) {
  const { change } = useConfigurationMessages();
  const [known] = useRows("directory show", { name }).data ?? [];
  if (known === undefined) return null;
  return <ActionButton action="directory put" label={change} values={{ name }} known={known} />;
}
