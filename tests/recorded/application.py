"""A web shop's application: its model, and what it asks through SQLAlchemy's ORM and Core."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    aliased,
    column_property,
    contains_eager,
    joinedload,
    mapped_column,
    relationship,
    selectinload,
    subqueryload,
)


class Base(DeclarativeBase):
    """The tables of the shop."""


class Customer(Base):
    __tablename__ = "customers"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    region: Mapped[str]
    orders: Mapped[list[Order]] = relationship(back_populates="customer")


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(sa.ForeignKey("customers.id"))
    placed_at: Mapped[datetime.datetime]
    status: Mapped[str]
    customer: Mapped[Customer] = relationship(back_populates="orders")
    items: Mapped[list[Item]] = relationship(back_populates="order")

    @hybrid_property
    def total(self) -> float:
        """What the items of the order cost together."""
        return sum(item.cost for item in self.items)

    @total.inplace.expression
    @classmethod
    def _total(cls) -> sa.ColumnElement[float]:
        return sa.select(sa.func.sum(Item.cost)).where(Item.order_id == cls.id).label("total")


class Product(Base):
    __tablename__ = "products"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    category: Mapped[str]


class Item(Base):
    __tablename__ = "items"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(sa.ForeignKey("orders.id"))
    product_id: Mapped[int] = mapped_column(sa.ForeignKey("products.id"))
    quantity: Mapped[int] = mapped_column(sa.Integer)
    price: Mapped[float] = mapped_column(sa.Double)
    cost: Mapped[float] = column_property(price * quantity)
    order: Mapped[Order] = relationship(back_populates="items")
    product: Mapped[Product] = relationship()


@dataclass(frozen=True, slots=True)
class Question:
    """What the application asks under one name: a function of a session, and the arguments that it is called with in turn."""

    name: str
    ask: Callable[..., Any]
    arguments: Sequence[tuple[Any, ...]]


def questions() -> list[Question]:
    """Return everything that the application asks; its functions are below."""
    return [Question(ask.__name__, ask, arguments) for ask, arguments in _ASKED]


def best_orders(session: Session, low: float) -> Any:
    total = sa.func.sum(Item.price * Item.quantity).label("total")
    query = sa.select(Item.order_id, total).group_by(Item.order_id).having(total > low).order_by(total.desc(), Item.order_id)
    return session.execute(query).all()


def best_customers(session: Session, low: float, count: int) -> Any:
    total = sa.func.sum(Item.cost).label("total")
    query = sa.select(Customer.id, Customer.name, total).join(Customer.orders).join(Order.items).group_by(Customer.id, Customer.name)
    return session.execute(query.having(total > low).order_by(total.desc()).limit(count)).all()


def page_of_customers(session: Session, size: int, page: int) -> Any:
    count = sa.func.count(Order.id).label("orders")
    query = sa.select(Order.customer_id, count, sa.func.max(Order.placed_at)).group_by(Order.customer_id)
    return session.execute(query.order_by(Order.customer_id.desc()).limit(size).offset(page * size)).all()


def customers_with_many_open_orders(session: Session, statuses: Sequence[str], least: int) -> Any:
    count = sa.func.count().label("orders")
    query = sa.select(Order.customer_id, count).where(Order.status.in_(statuses)).group_by(Order.customer_id)
    return session.execute(query.having(count >= least)).all()


def shares_of_states(session: Session, least: int) -> Any:
    returned = sa.func.sum(sa.case((Order.status == "returned", 1), else_=0)).label("returned")
    query = sa.select(Order.customer_id, returned, sa.func.count(Order.id)).group_by(Order.customer_id)
    return session.execute(query.having(returned >= least)).all()


def filtered_counts(session: Session, least: int) -> Any:
    returned = sa.func.count(Order.id).filter(Order.status == "returned")
    query = sa.select(Order.customer_id, returned.label("returned"), sa.func.count(Order.id).label("orders"))
    return session.execute(query.group_by(Order.customer_id).having(returned > least)).all()


def many_products(session: Session, least: int, first: int) -> Any:
    kinds = sa.func.count(sa.distinct(Item.product_id))
    query = sa.select(Item.order_id, kinds.label("kinds")).where(Item.order_id >= first).group_by(Item.order_id)
    return session.execute(query.having(kinds >= least)).all()


def busy_months(session: Session, least: int) -> Any:
    month = sa.func.date_trunc("MONTH", Order.placed_at).label("month")
    query = sa.select(month, sa.func.count()).group_by(month).having(sa.func.count() > least).order_by(month)
    return session.execute(query).all()


def orders_of_a_year(session: Session, year: int, least: int) -> Any:
    query = sa.select(Order.customer_id, sa.func.count()).where(sa.extract("year", Order.placed_at) == year).group_by(Order.customer_id)
    return session.execute(query.having(sa.func.count() > least)).all()


def orders_between(session: Session, first: datetime.datetime, last: datetime.datetime, count: int) -> Any:
    number = sa.func.count().label("number")
    query = sa.select(Order.customer_id, number).where(Order.placed_at.between(first, last)).group_by(Order.customer_id)
    return session.execute(query.order_by(number.desc(), Order.customer_id).limit(count)).all()


def totals_with(session: Session, low: float) -> Any:
    totals = sa.select(Item.order_id, sa.func.sum(Item.cost).label("total")).group_by(Item.order_id).cte("totals")
    query = sa.select(Order.id, Order.customer_id, totals.c.total).join(totals, totals.c.order_id == Order.id)
    return session.execute(query.where(totals.c.total > low)).all()


def customers_of_dear_orders(session: Session, low: float) -> Any:
    dear = sa.select(Item.order_id).group_by(Item.order_id).having(sa.func.sum(Item.price) > low)
    return session.scalars(sa.select(Order).where(Order.id.in_(dear))).all()


def above_the_average(session: Session) -> Any:
    average = sa.select(sa.func.avg(Item.price) * 3).scalar_subquery()
    query = sa.select(Item.order_id, sa.func.sum(Item.price)).group_by(Item.order_id).having(sa.func.sum(Item.price) > average)
    return session.execute(query).all()


def number_of_pages(session: Session, low: float) -> Any:
    dear = sa.select(Item.order_id).group_by(Item.order_id).having(sa.func.sum(Item.price) > low).subquery()
    return session.scalar(sa.select(sa.func.count()).select_from(dear))


def legacy_count(session: Session, status: str) -> Any:
    return session.query(Order).filter(Order.status == status).count()


def with_and_without_orders(session: Session, most: int) -> Any:
    number = sa.func.coalesce(sa.func.count(Order.id), 0).label("number")
    query = sa.select(Customer.id, number).outerjoin(Customer.orders).group_by(Customer.id)
    return session.execute(query.having(number > most)).all()


def customers_that_returned(session: Session, status: str) -> Any:
    found = sa.exists().where(Order.customer_id == Customer.id, Order.status == status)
    return session.scalars(sa.select(Customer).where(found)).all()


def customers_without(session: Session, status: str) -> Any:
    return session.scalars(sa.select(Customer).where(~Customer.orders.any(Order.status == status))).all()


def items_of_a_region(session: Session, region: str) -> Any:
    query = sa.select(sa.func.sum(Item.price)).where(Item.order.has(Order.customer.has(Customer.region == region)))
    return session.scalar(query)


def dear_orders(session: Session, low: float) -> Any:
    return session.scalars(sa.select(Order).where(Order.total > low)).all()


def newest_of_each(session: Session, first: int) -> Any:
    place = sa.func.row_number().over(partition_by=Order.customer_id, order_by=(Order.placed_at.desc(), Order.id)).label("place")
    numbered = sa.select(Order.id, Order.customer_id, place).where(Order.customer_id >= first).subquery()
    return session.execute(sa.select(numbered).where(numbered.c.place == 1)).all()


def ranked_totals(session: Session, most: int) -> Any:
    total = sa.func.sum(Item.price)
    ranked = sa.select(Item.order_id, total.label("total"), sa.func.rank().over(order_by=total.desc()).label("place"))
    ranking = ranked.group_by(Item.order_id).subquery()
    return session.execute(sa.select(ranking).where(ranking.c.place <= most)).all()


def dear_or_many(session: Session, low: float, least: int) -> Any:
    grouped = sa.select(Item.order_id).group_by(Item.order_id)
    dear, many = grouped.having(sa.func.sum(Item.price) > low), grouped.having(sa.func.sum(Item.quantity) > least)
    return session.execute(sa.union_all(dear, many)).all()


def pairs_of_orders(session: Session, first: int) -> Any:
    other = aliased(Order)
    query = sa.select(Order.customer_id, sa.func.count()).join(other, other.customer_id == Order.customer_id)
    query = query.where(Order.id < other.id, Order.customer_id > first).group_by(Order.customer_id)
    return session.execute(query.having(sa.func.count() > 40)).all()


def categories(session: Session, low: float) -> Any:
    total = sa.func.sum(Item.cost)
    query = sa.select(Product.category, total).join(Item.product).group_by(Product.category).having(total > low)
    return session.execute(query.order_by(Product.category)).all()


def states(session: Session) -> Any:
    return session.scalars(sa.select(Order.status).distinct().order_by(Order.status)).all()


def one_customer(session: Session, key: int) -> Any:
    return session.get(Customer, key)


def with_items_joined(session: Session, customer: int) -> Any:
    query = sa.select(Order).options(joinedload(Order.items)).where(Order.customer_id == customer).order_by(Order.id).limit(3)
    return session.scalars(query).unique().all()


def with_items_contained(session: Session, category: str) -> Any:
    query = sa.select(Order).join(Order.items).join(Item.product).where(Product.category == category, Item.price > 230)
    return session.scalars(query.options(contains_eager(Order.items))).unique().all()


def with_items_selected(session: Session, customer: int) -> Any:
    query = sa.select(Order).options(selectinload(Order.items)).where(Order.customer_id.in_(range(customer, customer + customer % 3 + 1)))
    return session.scalars(query.order_by(Order.id)).all()


def with_items_by_subquery(session: Session, low: float) -> Any:
    dear = sa.select(Item.order_id).group_by(Item.order_id).having(sa.func.sum(Item.price) > low)
    return session.scalars(sa.select(Order).options(subqueryload(Order.items)).where(Order.id.in_(dear))).all()


def items_on_demand(session: Session, key: int) -> Any:
    return list(session.scalars(sa.select(Order).where(Order.id == key)).one().items)


_ASKED: list[tuple[Callable[..., Any], Sequence[tuple[Any, ...]]]] = [
    (best_orders, [(1150.0,), (1180.0,)]),
    (best_customers, [(9300.0, 5), (9400.0, 5)]),
    (page_of_customers, [(10, 0), (10, 1)]),
    (customers_with_many_open_orders, [(["returned"], 3), (["returned", "lost"], 2), (["returned", "lost", "stolen"], 3)]),
    (shares_of_states, [(3,), (5,)]),
    (filtered_counts, [(3,), (5,)]),
    (many_products, [(2, 2300), (2, 2310)]),
    (busy_months, [(200,), (205,)]),
    (orders_of_a_year, [(2024, 10), (2024, 11)]),
    (orders_between, [(datetime.datetime(2024, 12, 1), datetime.datetime(2024, 12, 31), 5)]),
    (totals_with, [(1150.0,), (1180.0,)]),
    (customers_of_dear_orders, [(470.0,), (480.0,)]),
    (above_the_average, [()]),
    (number_of_pages, [(470.0,), (480.0,)]),
    (legacy_count, [("returned",), ("open",)]),
    (with_and_without_orders, [(10,)]),
    (customers_that_returned, [("returned",)]),
    (customers_without, [("open",)]),
    (items_of_a_region, [("north",)]),
    (dear_orders, [(1150.0,), (1180.0,)]),
    (newest_of_each, [(230,), (235,)]),
    (ranked_totals, [(10,)]),
    (dear_or_many, [(470.0, 5)]),
    (pairs_of_orders, [(220,), (225,)]),
    (categories, [(400000.0,)]),
    (states, [()]),
    (one_customer, [(7,), (8,)]),
    (with_items_joined, [(230,), (231,)]),
    (with_items_contained, [("tea",), ("cups",)]),
    (with_items_selected, [(230,), (231,), (229,)]),
    (with_items_by_subquery, [(470.0,), (480.0,)]),
    (items_on_demand, [(2300,), (2301,)]),
]
