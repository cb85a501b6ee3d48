"""Users, tokens and the audit log for the endpoints."""

from fastapi import Request, Response

from loadwatch_backend.access.principal import Principal
from loadwatch_backend.access.schemas import (
    AuditList,
    PasswordChange,
    PasswordLogin,
    SessionOut,
    SetupIn,
    TokenCreated,
    TokenIn,
    TokenList,
    UserIn,
    UserList,
    UserOut,
    UserPatch,
    UserSessionList,
)


class UserService:
    """Users, their sessions, tokens, and who did what."""

    def setup(self, given: SetupIn) -> SessionOut:
        """See the endpoint."""
        raise NotImplementedError

    def sign_in(self, given: PasswordLogin, request: Request, response: Response) -> SessionOut:
        """See the endpoint."""
        raise NotImplementedError

    def change_password(self, given: PasswordChange, actor: Principal, request: Request) -> SessionOut:
        """See the endpoint."""
        raise NotImplementedError

    def own_sessions(self, actor: Principal, request: Request) -> UserSessionList:
        """See the endpoint."""
        raise NotImplementedError

    def end_own_session(self, actor: Principal, session_id: str) -> None:
        """See the endpoint."""
        raise NotImplementedError

    def start_oidc(self, request: Request) -> Response:
        """See the endpoint."""
        raise NotImplementedError

    def finish_oidc(self, request: Request) -> Response:
        """See the endpoint."""
        raise NotImplementedError

    def list(self) -> UserList:
        """See the endpoint."""
        raise NotImplementedError

    def create(self, given: UserIn) -> UserOut:
        """See the endpoint."""
        raise NotImplementedError

    def update(self, user_id: int, patch: UserPatch, actor: Principal) -> UserOut:
        """See the endpoint."""
        raise NotImplementedError

    def delete(self, user_id: int, actor: Principal) -> None:
        """See the endpoint."""
        raise NotImplementedError

    def sessions(self, user_id: int) -> UserSessionList:
        """See the endpoint."""
        raise NotImplementedError

    def end_session(self, user_id: int, session_id: str) -> None:
        """See the endpoint."""
        raise NotImplementedError

    def tokens(self) -> TokenList:
        """See the endpoint."""
        raise NotImplementedError

    def create_token(self, given: TokenIn, actor: Principal) -> TokenCreated:
        """See the endpoint."""
        raise NotImplementedError

    def delete_token(self, token_id: str) -> None:
        """See the endpoint."""
        raise NotImplementedError

    def audit(self, start_ms: int, end_ms: int, actor: str, action: str, before: int | None, limit: int) -> AuditList:
        """See the endpoint."""
        raise NotImplementedError
