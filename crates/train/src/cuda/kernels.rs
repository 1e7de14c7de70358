//! The kernels: their names and their source.

/// Declares the kernels that the engine launches.
macro_rules! kernels {
    ($($variant:ident $name:literal)*) => {
        /// A kernel by its name in the source.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // The source says what each of them does.
        pub enum Kernel { $($variant),* }

        impl Kernel {
            /// All kernels.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in the source.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

kernels! {
    GatherReal "gather_real"
    GatherPixels "gather_pixels"
    GatherTokens "gather_tokens"
    LossClasses "loss_classes"
    LossNumbers "loss_numbers"
    LossNext "loss_next"
    BiasActivate "bias_activate"
    ActivateBack "activate_back"
    Smooth "smooth"
    SmoothBack "smooth_back"
    Deliver "deliver"
    AddTwo "add_two"
    DeliverProduct "deliver_product"
    DeliverScaled "deliver_scaled"
    AddTable "add_table"
    Fill "fill"
    Measure "measure"
    MeasureOuter "measure_outer"
    MeasureRows "measure_rows"
    AddRows "add_rows"
    FindFactors "find_factors"
    ApplyFactors "apply_factors"
    AddTokens "add_tokens"
    MeasureOne "measure_one"
    AddOne "add_one"
    Descend "descend"
    DescendVelocity "descend_velocity"
    DescendMoments "descend_moments"
    Blend "blend"
    Scaled "scaled"
    Unfold "unfold"
    Fold "fold"
    ChannelSums "channel_sums"
    PlaceSums "place_sums"
    PoolLargest "pool_largest"
    PoolMean "pool_mean"
    PoolBack "pool_back"
    Normalize "normalize"
    NormalizeBack "normalize_back"
    NormalizeKeep "normalize_keep"
    Embed "embed"
    EmbedBag "embed_bag"
    EmbedBagBack "embed_bag_back"
    SoftmaxRows "softmax_rows"
    SoftmaxBack "softmax_back"
    Transpose "transpose"
    MeanPlaces "mean_places"
    MeanPlacesBack "mean_places_back"
    LastPlace "last_place"
    LastPlaceBack "last_place_back"
    Drop "drop"
    LstmCell "lstm_cell"
    LstmBack "lstm_back"
    GruCell "gru_cell"
    GruBack "gru_back"
    NoiseDraw "noise_draw"
    NoiseAdd "noise_add"
    GuestMeasure "guest_measure"
    GuestTotals "guest_totals"
    GuestFactors "guest_factors"
    GuestAdd "guest_add"
    GuestConv "guest_conv"
    GuestChannels "guest_channels"
    GuestSites "guest_sites"
}

/// The source of all kernels, for a compiler of CUDA C++.
pub fn source() -> String {
    [
        include_str!("kernels/common.cu"),
        reticent_noise::bulk::device::SOURCE,
        include_str!("kernels/data.cu"),
        include_str!("kernels/elementwise.cu"),
        include_str!("kernels/measure.cu"),
        include_str!("kernels/update.cu"),
        include_str!("kernels/plane.cu"),
        include_str!("kernels/norm.cu"),
        include_str!("kernels/sequence.cu"),
        include_str!("kernels/recurrent.cu"),
        include_str!("kernels/guest.cu"),
    ]
    .concat()
}
