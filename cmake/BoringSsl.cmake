# SPDX-License-Identifier: Apache-2.0
# boringssl::ssl and boringssl::crypto: the pinned BoringSSL, the same static build that nginx gets. hopyard-sources
# fetches and compiles it into the user's cache and copies it here; what links it waits, the rest is compiled meanwhile.
if(HOPYARD_BORINGSSL_ROOT)
  set(boringssl_root ${HOPYARD_BORINGSSL_ROOT})
else()
  set(boringssl_root ${CMAKE_BINARY_DIR}/boringssl)
  set(boringssl_libraries ${boringssl_root}/lib/libssl.a ${boringssl_root}/lib/libcrypto.a)
  file(MAKE_DIRECTORY ${boringssl_root}/include)  # an imported target's folders must exist when configuring
  add_custom_command(
    OUTPUT ${boringssl_libraries}
    COMMAND hopyard-sources boringssl ${CMAKE_SOURCE_DIR}/patches/variants.yaml ${boringssl_root}
    DEPENDS hopyard-sources ${CMAKE_SOURCE_DIR}/patches/variants.yaml
            ${CMAKE_SOURCE_DIR}/patches/boringssl/CMakeLists.txt
    COMMENT "Fetching and compiling the pinned BoringSSL (about 2 minutes unless cached)"
    USES_TERMINAL VERBATIM)
  add_custom_target(boringssl DEPENDS ${boringssl_libraries})
endif()
foreach(library crypto ssl)
  add_library(boringssl::${library} STATIC IMPORTED GLOBAL)
  set_target_properties(boringssl::${library} PROPERTIES
    IMPORTED_LOCATION ${boringssl_root}/lib/lib${library}.a
    INTERFACE_INCLUDE_DIRECTORIES ${boringssl_root}/include)
  if(TARGET boringssl)
    add_dependencies(boringssl::${library} boringssl)
  endif()
endforeach()
set_property(TARGET boringssl::crypto PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads)
set_property(TARGET boringssl::ssl PROPERTY INTERFACE_LINK_LIBRARIES boringssl::crypto)
