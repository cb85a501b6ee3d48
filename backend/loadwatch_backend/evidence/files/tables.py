"""The table of files; made by the migrations, and a test holds both together."""

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.orm import Mapped, mapped_column

from loadwatch_backend.core.database.relational import Base
from loadwatch_backend.evidence.files.schemas import AUTHOR_LENGTH, ID_LENGTH, NAME_LENGTH

LongText = Text().with_variant(LONGTEXT(), "mysql", "mariadb")


class EvidenceFileRow(Base):
    """One file of a run; its content is on disk, in `evidence/<run>/<id>` of the data directory.

    `media_type` is what the content was recognised as; `facts` is a JSON object of whoever put the file there.
    """

    __tablename__ = "evidence_files"
    # Compare text as it was typed; see core/database/relational.py.
    __table_args__ = (
        Index("ix_evidence_files_run_id_kind", "run_id", "kind"),
        {"mysql_charset": "utf8mb4", "mysql_collate": "utf8mb4_bin"},
    )

    id: Mapped[str] = mapped_column(String(ID_LENGTH), primary_key=True)
    run_id: Mapped[str] = mapped_column(String(40), ForeignKey("runs.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(NAME_LENGTH))
    media_type: Mapped[str] = mapped_column(String(100))
    bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    at_ms: Mapped[int] = mapped_column(BigInteger)
    author: Mapped[str] = mapped_column(String(AUTHOR_LENGTH))
    note: Mapped[str] = mapped_column(LongText)
    facts: Mapped[str] = mapped_column(LongText)
