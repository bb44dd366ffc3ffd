"""Cache entries of leaf systems: computed once until something changes, found by index."""

import pytest

from mbcli.systems.framework import LeafSystem, Value, ValueProducer


class Twice(LeafSystem):
    def __init__(self):
        super().__init__()
        self.times = 0
        self.u = self.DeclareVectorInputPort("u", 2)
        producer = ValueProducer(allocate=lambda: Value([0.0, 0.0]), calc=self.calc)
        self.entry = self.DeclareCacheEntry("twice u", producer, {self.all_input_ports_ticket()})
        self.DeclareVectorOutputPort("y", 2, lambda context, output: output.SetFromVector(self.entry.Eval(context)))

    def calc(self, context, value):
        self.times += 1
        value.set_value((2.0 * self.u.Eval(context)).tolist())


def test_an_entry_is_computed_once_until_an_input_changes():
    system = Twice()
    context = system.CreateDefaultContext()
    system.u.FixValue(context, [1.0, 2.0])
    assert system.entry.Eval(context) == system.entry.Eval(context) == [2.0, 4.0]
    assert system.get_output_port().Eval(context).tolist() == [2.0, 4.0] and system.times == 1
    system.u.FixValue(context, [3.0, 0.5])
    assert system.entry.Eval(context) == [6.0, 1.0] and system.times == 2
    other = system.CreateDefaultContext()
    system.u.FixValue(other, [0.0, 1.0])
    assert system.entry.Eval(other) == [0.0, 2.0] and system.entry.Eval(context) == [6.0, 1.0]


def test_entries_have_descriptions_and_indices():
    system = Twice()
    assert system.get_cache_entry(0) is system.entry and system.entry.cache_index() == 0
    assert system.entry.description() == "twice u" and system.entry.Allocate().get_value() == [0.0, 0.0]
    with pytest.raises(IndexError):
        system.get_cache_entry(1)
    with pytest.raises(RuntimeError):
        system.entry.Eval(Twice().CreateDefaultContext())
