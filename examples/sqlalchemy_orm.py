"""Objects with a relationship, stored in Delta tables through SQLAlchemy, and a dashboard query over them that is maintained."""

from __future__ import annotations

import sys
import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from imp_sqlalchemy import last_report


class Base(DeclarativeBase):
    """The tables of this example."""


class Shop(Base):
    __tablename__ = "example_shop"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    number: Mapped[int]
    sales: Mapped[list[Sale]] = relationship(back_populates="shop", cascade="all")


class Sale(Base):
    __tablename__ = "example_sale"
    __table_args__ = {"imp_cluster_by": ["number"]}  # noqa: RUF012 - SQLAlchemy reads a plain dictionary
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    shop_id: Mapped[uuid.UUID] = mapped_column(sa.ForeignKey("example_shop.id"))
    number: Mapped[int] = mapped_column(index=True)
    price: Mapped[float]
    shop: Mapped[Shop] = relationship(back_populates="sales")


def main(warehouse: str) -> list[Any]:
    """Make the tables, ask, change, ask again; return the rows of the last answer."""
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=lazy")
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        # One commit of Delta for all shops and one for all sales, since the keys are known before the rows are written.
        session.add_all(_shop(number) for number in range(40))
        session.commit()
    total = sa.func.sum(Sale.price).label("total")
    best = sa.select(Sale.number, total).group_by(Sale.number).having(total > 350).order_by(total.desc(), Sale.number)
    rows = _asked(engine, best)
    with Session(engine) as session:
        shop = session.scalars(sa.select(Shop).where(Shop.number == 3)).one()
        shop.sales.append(Sale(id=uuid.uuid4(), number=shop.number, price=1000.0))
        session.commit()
    rows = _asked(engine, best)
    engine.dispose()
    return rows


def _shop(number: int) -> Shop:
    sales = [Sale(id=uuid.uuid4(), number=number, price=float(number * part)) for part in range(5)]
    return Shop(id=uuid.uuid4(), number=number, sales=sales)


def _asked(engine: sa.Engine, query: sa.Executable) -> list[Any]:
    with Session(engine) as session:
        rows = list(session.execute(query))
        report = last_report(session)
    print(rows)
    if report is not None:
        print(f"  {report.decision.name}, {report.reason.name}")
    return rows


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
