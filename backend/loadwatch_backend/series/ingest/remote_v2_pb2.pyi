from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Request(_message.Message):
    __slots__ = ("symbols", "timeseries")
    SYMBOLS_FIELD_NUMBER: _ClassVar[int]
    TIMESERIES_FIELD_NUMBER: _ClassVar[int]
    symbols: _containers.RepeatedScalarFieldContainer[bytes]
    timeseries: _containers.RepeatedCompositeFieldContainer[TimeSeries]
    def __init__(self, symbols: _Optional[_Iterable[bytes]] = ..., timeseries: _Optional[_Iterable[_Union[TimeSeries, _Mapping]]] = ...) -> None: ...

class TimeSeries(_message.Message):
    __slots__ = ("labels_refs", "samples", "histograms", "exemplars", "metadata")
    LABELS_REFS_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAMS_FIELD_NUMBER: _ClassVar[int]
    EXEMPLARS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    labels_refs: _containers.RepeatedScalarFieldContainer[int]
    samples: _containers.RepeatedCompositeFieldContainer[Sample]
    histograms: _containers.RepeatedScalarFieldContainer[bytes]
    exemplars: _containers.RepeatedScalarFieldContainer[bytes]
    metadata: Metadata
    def __init__(self, labels_refs: _Optional[_Iterable[int]] = ..., samples: _Optional[_Iterable[_Union[Sample, _Mapping]]] = ..., histograms: _Optional[_Iterable[bytes]] = ..., exemplars: _Optional[_Iterable[bytes]] = ..., metadata: _Optional[_Union[Metadata, _Mapping]] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ("value", "timestamp")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    value: float
    timestamp: int
    def __init__(self, value: _Optional[float] = ..., timestamp: _Optional[int] = ...) -> None: ...

class Metadata(_message.Message):
    __slots__ = ("type", "help_ref", "unit_ref")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    HELP_REF_FIELD_NUMBER: _ClassVar[int]
    UNIT_REF_FIELD_NUMBER: _ClassVar[int]
    type: int
    help_ref: int
    unit_ref: int
    def __init__(self, type: _Optional[int] = ..., help_ref: _Optional[int] = ..., unit_ref: _Optional[int] = ...) -> None: ...
