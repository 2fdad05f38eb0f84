"""Triples with the vocabulary and proportions of the Berlin SPARQL Benchmark, drawn by seed; its own generator is another program.

A product has its types (a leaf of a tree and all above it), 9 to 25 features of these, three to five texts and numbers, a producer; there
are 20 offers and 10 reviews of each product, a vendor for 2,000 offers, a person for 20 reviews. About 350 triples a product, as in the
original. Texts are of words that are made, and shorter than there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Final, TypeAlias

from imp_driver.sparql.terms import RDF, XSD, Term, iri, literal

Triple: TypeAlias = tuple[Term, Term, Term]

BSBM: Final = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/"
INSTANCES: Final = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/instances/"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
DUBLIN_CORE: Final = "http://purl.org/dc/elements/1.1/"
REVIEW: Final = "http://purl.org/stuff/rev#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"
COUNTRIES: Final = "http://downlode.org/rdf/iso-3166/countries#"

A: Final = iri(f"{RDF}type")
LABEL, COMMENT = iri(f"{RDFS}label"), iri(f"{RDFS}comment")
PUBLISHER, DATE = iri(f"{DUBLIN_CORE}publisher"), iri(f"{DUBLIN_CORE}date")
PRODUCER, FEATURE = iri(f"{BSBM}producer"), iri(f"{BSBM}productFeature")
NUMERIC = tuple(iri(f"{BSBM}productPropertyNumeric{number}") for number in range(1, 6))
TEXTUAL = tuple(iri(f"{BSBM}productPropertyTextual{number}") for number in range(1, 6))

FEWEST_FEATURES, MOST_FEATURES = 9, 25
LARGEST_NUMBER = 2_000
OFFERS, REVIEWS = 20, 10
"""Of a product."""
PRODUCTS_OF_PRODUCER, OFFERS_OF_VENDOR, REVIEWS_OF_PERSON = 50, 2_000, 20
BRANCHES = 8
"""Of the tree of types below its root, which has ``2 * log10(products)``."""
FEATURES_OF_TYPE = 12
_SYLLABLES = ("ba", "co", "di", "fu", "ga", "he", "ji", "ko", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "wo", "za")
_CODES = ("US", "GB", "JP", "CN", "DE", "FR", "ES", "RU", "KR", "AT")


@dataclass(frozen=True, slots=True)
class ProductType:
    """A type, those above it up to the root, and the numbers of the features that it brings along."""

    number: int
    above: tuple[int, ...]
    features: range

    @property
    def term(self) -> Term:
        return product_type(self.number)


def product_type(number: int) -> Term:
    return iri(f"{INSTANCES}ProductType{number}")


def feature(number: int) -> Term:
    return iri(f"{INSTANCES}ProductFeature{number}")


class Bsbm:
    """All triples of a number of products; ``seed`` says which."""

    def __init__(self, products: int, seed: int = 1) -> None:
        self.products, self._seed = products, seed
        self._producers = max(products // PRODUCTS_OF_PRODUCER, 1)
        self._vendors = max(products * OFFERS // OFFERS_OF_VENDOR, 1)
        self._persons = max(products * REVIEWS // REVIEWS_OF_PERSON, 1)

    @cached_property
    def types(self) -> tuple[ProductType, ...]:
        """The tree of types, each after those above it."""
        power = len(str(self.products)) - 1
        found = [ProductType(1, (), range(0))]
        level = [found[0]]
        for branches in (max(2 * power, 2), *([BRANCHES] * max(power // 2, 1))):
            level = [
                self._below(parent, len(found) + place) for place, parent in enumerate([one for one in level for _ in range(branches)])
            ]
            found += level
        return tuple(found)

    def _below(self, parent: ProductType, place: int) -> ProductType:
        first = 1 + (place - 1) * FEATURES_OF_TYPE
        return ProductType(place + 1, (*parent.above, parent.number), range(first, first + FEATURES_OF_TYPE))

    @cached_property
    def leaves(self) -> tuple[ProductType, ...]:
        deepest = max(len(each.above) for each in self.types)
        return tuple(each for each in self.types if len(each.above) == deepest)

    def iri_of(self, product: int) -> Term:
        return iri(f"{INSTANCES}dataFromProducer{self._producer(product)}/Product{product}")

    def _producer(self, product: int) -> int:
        return 1 + product % self._producers

    def triples(self) -> Iterator[Triple]:
        """Return all triples: products are numbered from 1."""
        yield from self._of_types()
        yield from self._of_sources()
        for number in range(1, self.products + 1):
            yield from self.product(number)
            yield from self._of_offers(number)
            yield from self._of_reviews(number)

    def product(self, number: int) -> list[Triple]:
        """Return the triples that have a product as their subject; one with a number that is not there is a new one."""
        chance = Random(f"{self._seed} product {number}")
        subject = self.iri_of(number)
        kind = chance.choice(self.leaves)
        above = [self.types[each - 1] for each in kind.above]
        choices = [each for one in (kind, *above) for each in one.features]
        chosen = chance.sample(choices, min(chance.randint(FEWEST_FEATURES, MOST_FEATURES), len(choices)))
        publisher = iri(f"{INSTANCES}dataFromProducer{self._producer(number)}/Producer{self._producer(number)}")
        found = [(subject, A, iri(f"{BSBM}Product")), *((subject, A, each.term) for each in (kind, *above))]
        found += [(subject, LABEL, literal(_words(chance, 1, 3))), (subject, COMMENT, literal(_words(chance, 15, 30)))]
        found += [(subject, PRODUCER, publisher), (subject, PUBLISHER, publisher), (subject, DATE, _date(chance))]
        found += [(subject, FEATURE, feature(each)) for each in sorted(chosen)]
        for place, (number_of, text_of) in enumerate(zip(NUMERIC, TEXTUAL, strict=True)):
            # The first three are always there.
            if place < 3 or chance.random() < 0.5:
                found.append((subject, number_of, _number(chance.randint(1, LARGEST_NUMBER))))
            if place < 3 or chance.random() < 0.5:
                found.append((subject, text_of, literal(_words(chance, 3, 15))))
        return found

    def _of_types(self) -> Iterator[Triple]:
        chance = Random(f"{self._seed} types")
        for each in self.types:
            yield from _named(chance, each.term, "ProductType")
            if each.above:
                yield each.term, iri(f"{RDFS}subClassOf"), product_type(each.above[-1])
            for number in each.features:
                yield from _named(chance, feature(number), "ProductFeature")

    def _of_sources(self) -> Iterator[Triple]:
        chance = Random(f"{self._seed} sources")
        for kind, count in (("Producer", self._producers), ("Vendor", self._vendors)):
            for number in range(1, count + 1):
                subject = iri(f"{INSTANCES}dataFrom{kind}{number}/{kind}{number}")
                yield from _named(chance, subject, kind)
                yield subject, iri(f"{FOAF}homepage"), iri(f"http://www.{kind}{number}.com/")
                yield subject, iri(f"{BSBM}country"), iri(COUNTRIES + chance.choice(_CODES))
        for number in range(1, self._persons + 1):
            subject = iri(f"{INSTANCES}dataFromRatingSite1/Reviewer{number}")
            yield subject, A, iri(f"{FOAF}Person")
            yield subject, iri(f"{FOAF}name"), literal(_words(chance, 1, 2))
            yield subject, iri(f"{FOAF}mbox_sha1sum"), literal(f"{chance.getrandbits(160):040x}")
            yield subject, iri(f"{BSBM}country"), iri(COUNTRIES + chance.choice(_CODES))

    def _of_offers(self, product: int) -> Iterator[Triple]:
        chance = Random(f"{self._seed} offers {product}")
        for place in range(OFFERS):
            vendor = chance.randint(1, self._vendors)
            source = f"{INSTANCES}dataFromVendor{vendor}/"
            subject = iri(f"{source}Offer{product * OFFERS + place}")
            yield subject, A, iri(f"{BSBM}Offer")
            yield subject, iri(f"{BSBM}product"), self.iri_of(product)
            yield subject, iri(f"{BSBM}vendor"), iri(f"{source}Vendor{vendor}")
            yield subject, iri(f"{BSBM}price"), literal(f"{chance.randint(500, 1_000_000) / 100:.2f}", f"{BSBM}USD")
            yield subject, iri(f"{BSBM}validFrom"), _date(chance)
            yield subject, iri(f"{BSBM}validTo"), _date(chance)
            yield subject, iri(f"{BSBM}deliveryDays"), _number(chance.randint(1, 21))
            yield subject, iri(f"{BSBM}offerWebpage"), iri(f"http://www.Vendor{vendor}.com/{product}/{place}")
            yield subject, PUBLISHER, iri(f"{source}Vendor{vendor}")
            yield subject, DATE, _date(chance)

    def _of_reviews(self, product: int) -> Iterator[Triple]:
        chance = Random(f"{self._seed} reviews {product}")
        source = f"{INSTANCES}dataFromRatingSite1/"
        for place in range(REVIEWS):
            subject = iri(f"{source}Review{product * REVIEWS + place}")
            yield subject, A, iri(f"{REVIEW}Review")
            yield subject, iri(f"{BSBM}reviewFor"), self.iri_of(product)
            yield subject, iri(f"{REVIEW}reviewer"), iri(f"{source}Reviewer{chance.randint(1, self._persons)}")
            yield subject, iri(f"{BSBM}reviewDate"), _date(chance)
            yield subject, iri(f"{DUBLIN_CORE}title"), literal(_words(chance, 4, 15))
            yield subject, iri(f"{REVIEW}text"), literal(_words(chance, 20, 50), language="en")
            for number in range(1, 5):
                if chance.random() < 0.7:
                    yield subject, iri(f"{BSBM}rating{number}"), _number(chance.randint(1, 10))
            yield subject, PUBLISHER, iri(f"{source}RatingSite1")
            yield subject, DATE, _date(chance)


def _named(chance: Random, subject: Term, kind: str) -> Iterator[Triple]:
    yield subject, A, iri(BSBM + kind)
    yield subject, LABEL, literal(_words(chance, 1, 3))
    yield subject, COMMENT, literal(_words(chance, 10, 20))
    yield subject, PUBLISHER, iri(f"{INSTANCES}StandardizationInstitution1")
    yield subject, DATE, _date(chance)


def _number(value: int) -> Term:
    return literal(str(value), f"{XSD}integer")


def _date(chance: Random) -> Term:
    return literal(f"20{chance.randint(0, 8):02}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}", f"{XSD}date")


def _words(chance: Random, fewest: int, most: int) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=3)) for _ in range(chance.randint(fewest, most)))
