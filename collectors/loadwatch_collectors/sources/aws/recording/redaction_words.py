"""What may stay readable in a recording: AWS's own words. Everything that is not here is hashed."""

import re

SAFE_MEMBERS = frozenset(
    # Of RDS and ElastiCache.
    """Engine EngineVersion EngineMode DBInstanceClass DBInstanceStatus CacheNodeType CacheNodeStatus StorageType
    LicenseModel DBParameterGroupFamily ParameterName ParameterApplyStatus DBClusterParameterGroupStatus ApplyType
    ApplyMethod DataType Source SupportedFeature CACertificateIdentifier DatabaseInsightsMode EngineFamily
    AutoMinorVersionUpgrade PreferredMaintenanceWindow PreferredBackupWindow NetworkType ReplicationSourceStatus
    ClusterMode AutomaticFailover CacheClusterStatus CurrentRole"""
    # Of load balancers, ECS, EC2, Auto Scaling, Lambda.
    """ Scheme Type IpAddressType TargetType Protocol ProtocolVersion State status launchType schedulingStrategy
    platformVersion platformFamily rolloutState propagateTags networkMode desiredStatus lastStatus healthStatus
    availabilityZoneRebalancing InstanceType Architecture Hypervisor VirtualizationType RootDeviceType PlatformDetails
    LifecycleState HealthStatus HealthCheckType HealthCheckProtocol Runtime PackageType LastUpdateStatus LogType
    AdjustmentType Reason ConnectivityType AvailabilityMode VolumeType"""
    # Of CloudWatch, its requests, and how answers are worded.
    """ Stat Unit StatusCode Statistic MetricAggregationType RecentlyActive Status Code StatusReasonCode
    AvailabilityZone AvailabilityZones availabilityZone RegionName Region ResourceTypeFilters Include include
    AttributeNames ServiceType engine Group PeriodAlignment ScanBy"""
    # What AWS lists the values of, though nothing is made of it yet: of RDS and ElastiCache, then of the others.
    """ ActivityStreamMode ActivityStreamStatus ActivityStreamPolicyStatus AuthTokenStatus AutomationMode
    ClusterScalabilityType DestinationType Durability EffectiveDurability GlobalWriteForwardingStatus IpDiscovery
    LocalWriteForwardingStatus LogFormat ReplicaMode StorageEncryptionType TransitEncryptionMode UpgradeRolloutOrder
    AuthScheme ClientPasswordAuthType IAMAuth EndpointNetworkType TargetConnectionNetworkType"""
    """ AcceleratorManufacturers AcceleratorNames AcceleratorTypes ApplicationLogLevel ApplyOn Architectures
    AttachmentState ModificationState SseType
    BandwidthWeighting BareMetal BootMode BurstablePerformance CapacityDistributionStrategy
    CapacityReservationPreference CpuManufacturers CurrentInstanceBootMode DeletionProtection DirectS3Read
    HostnameType HttpTokens ImpairedZoneHealthCheckBehavior InstanceGenerations InstanceLifecycle InterfaceType
    LastUpdateStatusReasonCode LocalStorage LocalStorageTypes MitigationInEffect OptimizationStatus Platform PoolState
    ProductCodeType StateReasonCode SystemLogLevel TargetCapacityTypes Tenancy TenantIsolationMode
    TerminateHookAbandon filesystemType lifecycleStages logDriver logLevel resourceManagementType resourceType
    sourceServiceRevisionCleanup stabilityStatus targetType""".split()
)
"""Members whose strings are AWS's choice and not the user's."""

SAFE_PARENTS = frozenset(
    [
        ("Attributes", "Key"),
        ("Attributes", "AttributeName"),
        ("Filters", "Name"),
        ("Filter", "Name"),
        ("Targets", "Role"),
        ("State", "Name"),
        ("MetricQueries", "Metric"),
        ("GroupBy", "Dimensions"),
        ("Key", "Metric"),
        ("EnabledMetrics", "Metric"),
        ("AnomalyDetection", "Result"),
        ("TracingConfig", "Mode"),
        ("accessLogConfiguration", "format"),
        ("deploymentConfiguration", "strategy"),
        ("deploymentController", "type"),
        ("executeCommandConfiguration", "logging"),
        ("placementConstraints", "type"),
        ("placementStrategy", "type"),
        ("scale", "unit"),
        ("thresholdConfiguration", "type"),
        ("timeoutConfiguration", "action"),
    ]
)
"""The same, for members that mean other things elsewhere: parent and member."""

DROPPED_MEMBERS = frozenset(
    """Variables Environment environment environmentFiles secrets UserData MasterUsername MasterUserPassword
    MasterUserSecret Secret Password AuthToken Token SessionToken SecretAccessKey AccessKeyId
    Credentials InitQuery command entryPoint ResponseMetadata ExternalId""".split()
)
"""Members that are never recorded, not even hashed."""

SAFE_PREFIXES = ("db.wait_event.",)
"""Beginnings of members whose strings are the database's words, such as the names of waits."""

TAG_LISTS = frozenset(["Tags", "tags", "TagList", "TagSet", "TagFilters"])
"""Members that hold keys and values of tags."""

USER_MAPS = frozenset(["Tags", "tags", "dockerLabels", "Labels"])
"""Members whose own keys are the user's words."""

SAFE_WORDS = frozenset(
    # ARNs and addresses.
    """arn aws aws-cn aws-us-gov rds elasticloadbalancing ec2 ecs autoscaling elasticache sqs lambda cloudwatch
    db-proxy natgateway volume monitoring sts iam logs pi tag db cluster cluster-pg pg subgrp og replicationgroup
    parametergroup loadbalancer app net gwy targetgroup listener service task task-definition container-instance
    instance function autoScalingGroup autoScalingGroupName role assumed-role user capacity-provider log-group
    log-stream amazonaws com cn elb internal compute cache https http tcp root default GRANDFATHERED"""
    # Words that the APIs are asked with or answer with.
    """ RDSOSMetrics RDS all ALL All TAGS system engine-default customer modified true false on off enabled disabled
    ENABLED DISABLED ON OFF healthy unhealthy unused initial draining unavailable available running active ACTIVE
    INACTIVE PRIMARY pending stopped stopping creating deleting attached provisioning InService OutOfService
    EC2 FARGATE ELB
    forward redirect Name groupName containerInsights enhanced SETTINGS max_connections shutting-down $Default $Latest
    FARGATE_SPOT eth0 rdsdev rdsdbdata redis valkey memcached mysql mariadb postgres aurora aurora-mysql
    aurora-postgresql AWS""".split()
)
"""Parts of a string that stay as they are, wherever they are."""

SAFE_PART = re.compile(
    r"[a-z]{2}(?:-[a-z]+)+-\d[a-z]?"  # a region or an availability zone
    r"|(?:aurora-)?(?:mysql|postgres|postgresql|mariadb|aurora|redis|valkey)\d+"  # the beginning of a family
    r"|\d{1,11}"
)
"""The same, by form. Twelve digits are an account."""

FORMULA = re.compile(
    r"[\s\d{}()/*+,.-]*(?:(?:DBInstanceClassMemory|DBInstanceVCPU|AllocatedStorage|EndPointPort|TrueIfReplica|GREATEST|LEAST|SUM"
    r"|lower|log)[\s\d{}()/*+,.-]*)+"
)
"""A value of a parameter group that is computed from the instance's size."""

PLAIN = re.compile(r"-?\d{1,11}(?:\.\d+)?|-?\d{13,}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?")
"""Numbers and times."""

AWS_NAMESPACES = frozenset(["ECS/ContainerInsights", "ContainerInsights", "LambdaInsights", "CWAgent"])
