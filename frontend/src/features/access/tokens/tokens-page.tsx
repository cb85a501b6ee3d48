import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { tokensQuery } from "@/api/access/queries";
import type { Token } from "@/api/access/types";
import { serverNow } from "@/api/server-clock";
import { useMay } from "@/lib/access-scopes";
import { useNow } from "@/lib/time/use-now";
import { useTimes } from "@/lib/time/use-times";
import { QueryFault } from "@/ui/fault/query-fault";
import { Icon } from "@/ui/icon";
import { Card, CardHead, Cards } from "@/ui/list/card";
import { Loading } from "@/ui/loading";
import { PageMessage } from "@/ui/page-message";
import { StateMark } from "@/ui/state-mark";
import { Tag, Tags } from "@/ui/text/tag";
import { Hint, NameLine } from "@/ui/text/text";
import { AccessPage } from "../access-page";
import { useScopeWords } from "../model/use-scope-words";
import { CreateToken } from "./create-token";
import { RevokeToken } from "./revoke-token";

/** Tokens for agents and programs. */
export function TokensPage() {
  const { t } = useTranslation();
  const admin = useMay("admin");
  const tokens = useQuery({ ...tokensQuery, enabled: admin, refetchInterval: 10_000 });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const list = tokens.data?.tokens ?? [];
  return (
    <AccessPage
      id="tokens"
      actions={
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>
          {t("users.token.add")}
        </Button>
      }
    >
      <QueryFault title={t("users.token.failed")} query={tokens} />
      {tokens.isPending && <Loading height={160} label={t("users.loading")} />}
      {tokens.data && list.length === 0 && (
        <PageMessage icon="key" title={t("users.token.none")}>
          <p>{t("users.token.noneHint")}</p>
        </PageMessage>
      )}
      <Cards aria-label={t("users.tab_tokens")}>
        {list.map((token) => (
          <TokenRow key={token.id} token={token} onRevoke={() => setRevoking(token)} />
        ))}
      </Cards>
      {making && <CreateToken onClose={() => setMaking(false)} />}
      {revoking !== null && <RevokeToken token={revoking} onClose={() => setRevoking(null)} />}
    </AccessPage>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke: () => void }) {
  const { t } = useTranslation();
  const times = useTimes();
  const words = useScopeWords();
  const now = useNow(serverNow, 10_000);
  const over = token.expires_ms !== null && token.expires_ms <= now;
  const facts = [
    t("users.token.created", { time: times.instant(token.created_ms), name: token.created_by }),
    token.last_used_ms === null
      ? t("users.token.unused")
      : t("users.token.used", { span: times.span(Math.max(0, now - token.last_used_ms)) }),
    token.expires_ms === null
      ? t("users.token.never")
      : t("users.token.until", { time: times.instant(token.expires_ms) }),
    ...(token.jobs.length === 0 ? [] : [t("users.token.jobs", { jobs: token.jobs.join(", ") })]),
  ];
  return (
    <Card data-token={token.name}>
      <CardHead>
        <NameLine>
          {token.name}
          {over && <StateMark tone="bad" label={t("users.token.over")} />}
        </NameLine>
        {!token.from_file && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={onRevoke}
            aria-label={`${t("users.token.revoke")}: ${token.name}`}
          >
            {t("users.token.revoke")}
          </Button>
        )}
      </CardHead>
      <Tags label={t("users.token.scopes")}>
        {token.scopes.map((scope) => (
          <li key={scope}>
            <Tag title={words(scope).hint}>{words(scope).name}</Tag>
          </li>
        ))}
      </Tags>
      <Hint>{facts.join(" · ")}</Hint>
      {token.from_file && <Hint>{t("users.token.fromFile")}</Hint>}
    </Card>
  );
}
