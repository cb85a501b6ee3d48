from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AggregationTemporality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AGGREGATION_TEMPORALITY_UNSPECIFIED: _ClassVar[AggregationTemporality]
    AGGREGATION_TEMPORALITY_DELTA: _ClassVar[AggregationTemporality]
    AGGREGATION_TEMPORALITY_CUMULATIVE: _ClassVar[AggregationTemporality]
AGGREGATION_TEMPORALITY_UNSPECIFIED: AggregationTemporality
AGGREGATION_TEMPORALITY_DELTA: AggregationTemporality
AGGREGATION_TEMPORALITY_CUMULATIVE: AggregationTemporality

class ExportRequest(_message.Message):
    __slots__ = ("resource_metrics",)
    RESOURCE_METRICS_FIELD_NUMBER: _ClassVar[int]
    resource_metrics: _containers.RepeatedCompositeFieldContainer[ResourceMetrics]
    def __init__(self, resource_metrics: _Optional[_Iterable[_Union[ResourceMetrics, _Mapping]]] = ...) -> None: ...

class ExportResponse(_message.Message):
    __slots__ = ("partial_success",)
    PARTIAL_SUCCESS_FIELD_NUMBER: _ClassVar[int]
    partial_success: PartialSuccess
    def __init__(self, partial_success: _Optional[_Union[PartialSuccess, _Mapping]] = ...) -> None: ...

class PartialSuccess(_message.Message):
    __slots__ = ("rejected_data_points", "error_message")
    REJECTED_DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    rejected_data_points: int
    error_message: str
    def __init__(self, rejected_data_points: _Optional[int] = ..., error_message: _Optional[str] = ...) -> None: ...

class ResourceMetrics(_message.Message):
    __slots__ = ("resource", "scope_metrics")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_METRICS_FIELD_NUMBER: _ClassVar[int]
    resource: Resource
    scope_metrics: _containers.RepeatedCompositeFieldContainer[ScopeMetrics]
    def __init__(self, resource: _Optional[_Union[Resource, _Mapping]] = ..., scope_metrics: _Optional[_Iterable[_Union[ScopeMetrics, _Mapping]]] = ...) -> None: ...

class Resource(_message.Message):
    __slots__ = ("attributes",)
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    def __init__(self, attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ...) -> None: ...

class ScopeMetrics(_message.Message):
    __slots__ = ("scope", "metrics", "schema_url")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_URL_FIELD_NUMBER: _ClassVar[int]
    scope: InstrumentationScope
    metrics: _containers.RepeatedCompositeFieldContainer[Metric]
    schema_url: str
    def __init__(self, scope: _Optional[_Union[InstrumentationScope, _Mapping]] = ..., metrics: _Optional[_Iterable[_Union[Metric, _Mapping]]] = ..., schema_url: _Optional[str] = ...) -> None: ...

class InstrumentationScope(_message.Message):
    __slots__ = ("name", "version", "attributes")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ...) -> None: ...

class KeyValue(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: AnyValue
    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[AnyValue, _Mapping]] = ...) -> None: ...

class AnyValue(_message.Message):
    __slots__ = ("string_value", "bool_value", "int_value", "double_value", "array_value", "kvlist_value", "bytes_value")
    STRING_VALUE_FIELD_NUMBER: _ClassVar[int]
    BOOL_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT_VALUE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    ARRAY_VALUE_FIELD_NUMBER: _ClassVar[int]
    KVLIST_VALUE_FIELD_NUMBER: _ClassVar[int]
    BYTES_VALUE_FIELD_NUMBER: _ClassVar[int]
    string_value: str
    bool_value: bool
    int_value: int
    double_value: float
    array_value: ArrayValue
    kvlist_value: KeyValueList
    bytes_value: bytes
    def __init__(self, string_value: _Optional[str] = ..., bool_value: _Optional[bool] = ..., int_value: _Optional[int] = ..., double_value: _Optional[float] = ..., array_value: _Optional[_Union[ArrayValue, _Mapping]] = ..., kvlist_value: _Optional[_Union[KeyValueList, _Mapping]] = ..., bytes_value: _Optional[bytes] = ...) -> None: ...

class ArrayValue(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[AnyValue]
    def __init__(self, values: _Optional[_Iterable[_Union[AnyValue, _Mapping]]] = ...) -> None: ...

class KeyValueList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[KeyValue]
    def __init__(self, values: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ...) -> None: ...

class Metric(_message.Message):
    __slots__ = ("name", "description", "unit", "gauge", "sum", "histogram", "exponential_histogram", "summary")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    GAUGE_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    EXPONENTIAL_HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    unit: str
    gauge: Gauge
    sum: Sum
    histogram: Histogram
    exponential_histogram: ExponentialHistogram
    summary: Summary
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., unit: _Optional[str] = ..., gauge: _Optional[_Union[Gauge, _Mapping]] = ..., sum: _Optional[_Union[Sum, _Mapping]] = ..., histogram: _Optional[_Union[Histogram, _Mapping]] = ..., exponential_histogram: _Optional[_Union[ExponentialHistogram, _Mapping]] = ..., summary: _Optional[_Union[Summary, _Mapping]] = ...) -> None: ...

class Gauge(_message.Message):
    __slots__ = ("data_points",)
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    data_points: _containers.RepeatedCompositeFieldContainer[NumberDataPoint]
    def __init__(self, data_points: _Optional[_Iterable[_Union[NumberDataPoint, _Mapping]]] = ...) -> None: ...

class Sum(_message.Message):
    __slots__ = ("data_points", "aggregation_temporality", "is_monotonic")
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    AGGREGATION_TEMPORALITY_FIELD_NUMBER: _ClassVar[int]
    IS_MONOTONIC_FIELD_NUMBER: _ClassVar[int]
    data_points: _containers.RepeatedCompositeFieldContainer[NumberDataPoint]
    aggregation_temporality: AggregationTemporality
    is_monotonic: bool
    def __init__(self, data_points: _Optional[_Iterable[_Union[NumberDataPoint, _Mapping]]] = ..., aggregation_temporality: _Optional[_Union[AggregationTemporality, str]] = ..., is_monotonic: _Optional[bool] = ...) -> None: ...

class Histogram(_message.Message):
    __slots__ = ("data_points", "aggregation_temporality")
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    AGGREGATION_TEMPORALITY_FIELD_NUMBER: _ClassVar[int]
    data_points: _containers.RepeatedCompositeFieldContainer[HistogramDataPoint]
    aggregation_temporality: AggregationTemporality
    def __init__(self, data_points: _Optional[_Iterable[_Union[HistogramDataPoint, _Mapping]]] = ..., aggregation_temporality: _Optional[_Union[AggregationTemporality, str]] = ...) -> None: ...

class ExponentialHistogram(_message.Message):
    __slots__ = ("data_points", "aggregation_temporality")
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    AGGREGATION_TEMPORALITY_FIELD_NUMBER: _ClassVar[int]
    data_points: _containers.RepeatedCompositeFieldContainer[ExponentialHistogramDataPoint]
    aggregation_temporality: AggregationTemporality
    def __init__(self, data_points: _Optional[_Iterable[_Union[ExponentialHistogramDataPoint, _Mapping]]] = ..., aggregation_temporality: _Optional[_Union[AggregationTemporality, str]] = ...) -> None: ...

class Summary(_message.Message):
    __slots__ = ("data_points",)
    DATA_POINTS_FIELD_NUMBER: _ClassVar[int]
    data_points: _containers.RepeatedCompositeFieldContainer[SummaryDataPoint]
    def __init__(self, data_points: _Optional[_Iterable[_Union[SummaryDataPoint, _Mapping]]] = ...) -> None: ...

class NumberDataPoint(_message.Message):
    __slots__ = ("start_time_unix_nano", "time_unix_nano", "as_double", "as_int", "attributes", "flags")
    START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    AS_DOUBLE_FIELD_NUMBER: _ClassVar[int]
    AS_INT_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    start_time_unix_nano: int
    time_unix_nano: int
    as_double: float
    as_int: int
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    flags: int
    def __init__(self, start_time_unix_nano: _Optional[int] = ..., time_unix_nano: _Optional[int] = ..., as_double: _Optional[float] = ..., as_int: _Optional[int] = ..., attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ..., flags: _Optional[int] = ...) -> None: ...

class HistogramDataPoint(_message.Message):
    __slots__ = ("start_time_unix_nano", "time_unix_nano", "count", "sum", "bucket_counts", "explicit_bounds", "attributes", "flags")
    START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    BUCKET_COUNTS_FIELD_NUMBER: _ClassVar[int]
    EXPLICIT_BOUNDS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    start_time_unix_nano: int
    time_unix_nano: int
    count: int
    sum: float
    bucket_counts: _containers.RepeatedScalarFieldContainer[int]
    explicit_bounds: _containers.RepeatedScalarFieldContainer[float]
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    flags: int
    def __init__(self, start_time_unix_nano: _Optional[int] = ..., time_unix_nano: _Optional[int] = ..., count: _Optional[int] = ..., sum: _Optional[float] = ..., bucket_counts: _Optional[_Iterable[int]] = ..., explicit_bounds: _Optional[_Iterable[float]] = ..., attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ..., flags: _Optional[int] = ...) -> None: ...

class ExponentialHistogramDataPoint(_message.Message):
    __slots__ = ("attributes", "start_time_unix_nano", "time_unix_nano", "count", "sum", "scale", "zero_count", "positive", "negative", "flags", "zero_threshold")
    class Buckets(_message.Message):
        __slots__ = ("offset", "bucket_counts")
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        BUCKET_COUNTS_FIELD_NUMBER: _ClassVar[int]
        offset: int
        bucket_counts: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, offset: _Optional[int] = ..., bucket_counts: _Optional[_Iterable[int]] = ...) -> None: ...
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    ZERO_COUNT_FIELD_NUMBER: _ClassVar[int]
    POSITIVE_FIELD_NUMBER: _ClassVar[int]
    NEGATIVE_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    ZERO_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    start_time_unix_nano: int
    time_unix_nano: int
    count: int
    sum: float
    scale: int
    zero_count: int
    positive: ExponentialHistogramDataPoint.Buckets
    negative: ExponentialHistogramDataPoint.Buckets
    flags: int
    zero_threshold: float
    def __init__(self, attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ..., start_time_unix_nano: _Optional[int] = ..., time_unix_nano: _Optional[int] = ..., count: _Optional[int] = ..., sum: _Optional[float] = ..., scale: _Optional[int] = ..., zero_count: _Optional[int] = ..., positive: _Optional[_Union[ExponentialHistogramDataPoint.Buckets, _Mapping]] = ..., negative: _Optional[_Union[ExponentialHistogramDataPoint.Buckets, _Mapping]] = ..., flags: _Optional[int] = ..., zero_threshold: _Optional[float] = ...) -> None: ...

class SummaryDataPoint(_message.Message):
    __slots__ = ("start_time_unix_nano", "time_unix_nano", "count", "sum", "quantile_values", "attributes", "flags")
    class ValueAtQuantile(_message.Message):
        __slots__ = ("quantile", "value")
        QUANTILE_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        quantile: float
        value: float
        def __init__(self, quantile: _Optional[float] = ..., value: _Optional[float] = ...) -> None: ...
    START_TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    TIME_UNIX_NANO_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SUM_FIELD_NUMBER: _ClassVar[int]
    QUANTILE_VALUES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    start_time_unix_nano: int
    time_unix_nano: int
    count: int
    sum: float
    quantile_values: _containers.RepeatedCompositeFieldContainer[SummaryDataPoint.ValueAtQuantile]
    attributes: _containers.RepeatedCompositeFieldContainer[KeyValue]
    flags: int
    def __init__(self, start_time_unix_nano: _Optional[int] = ..., time_unix_nano: _Optional[int] = ..., count: _Optional[int] = ..., sum: _Optional[float] = ..., quantile_values: _Optional[_Iterable[_Union[SummaryDataPoint.ValueAtQuantile, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[KeyValue, _Mapping]]] = ..., flags: _Optional[int] = ...) -> None: ...
